// Source: processing-engine, "Packages and environment", "Security".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pluginEnvironment } from './python-environment.js';

it('hands plugins the environment without the settings of the server', () => {
  const base = { version: [3, 11, 2], executable: '/usr/bin/python3' };
  const kept = pluginEnvironment(
    {
      PATH: '/usr/bin',
      INFLUXDB3_AUTH_TOKEN: 'theirs',
      PLINTH_DATABASE_URL: 'postgres://u:secret@h/d',
      PLINTH_AUTH_TOKEN: 'secret',
    },
    {
      environment: {
        python: '/p/.venv/bin/python',
        base: { ...base, venv: true, ensurepip: true, pip: true },
        virtualEnv: '/p/.venv',
        warnings: [],
      },
      pluginFolder: '/p',
    },
  );
  assert.deepEqual(kept, {
    PATH: '/p/.venv/bin:/usr/bin',
    INFLUXDB3_AUTH_TOKEN: 'theirs',
    VIRTUAL_ENV: '/p/.venv',
    PLUGIN_DIR: '/p',
    INFLUXDB3_PLUGIN_DIR: '/p',
    TZ: 'UTC',
  });
});
