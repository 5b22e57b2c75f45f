import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { describeSettings } from '@plinth/kernel';
import { describeAllSettings, SERVICE_NAMES, SETTINGS } from './settings.js';
import { readSettings } from './start-server.js';

it('docs/SETTINGS.md is current (else run `node scripts/settings.mjs`)', () => {
  const page = new URL('../../../docs/SETTINGS.md', import.meta.url);
  assert.equal(readFileSync(page, 'utf8'), describeAllSettings());
});

it('every setting has a description, and every flag and variable belongs to one setting', () => {
  const settings = describeSettings(Object.values(SETTINGS));
  for (const { path, description } of settings) assert.notEqual(description, '', path);
  const names = settings.flatMap(({ flags, env }) => [...flags, ...env]);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

it('takes the flags and variables that users of the real system know', () => {
  const settings = readSettings({
    env: { INFLUXDB3_HTTP_BIND_ADDR: '[::1]:0', INFLUXDB3_START_WITHOUT_AUTH: 'true' },
    flags: new Map([
      ['data-dir', '/data'],
      ['disable-authz', 'health,ping'],
      ['shutdown-timeout', '5s'],
    ]),
  });
  assert.equal(settings.server.http_bind, '[::1]:0');
  assert.equal(settings.server.data_dir, '/data');
  assert.equal(settings.server.shutdown_timeout_ms, 5000);
  assert.equal(settings.identity.without_auth, true);
  assert.deepEqual(settings.identity.disable_authz, ['health', 'ping']);
});

it('listens on loopback unless told otherwise', () => {
  const { server } = readSettings({ env: {}, flags: new Map() });
  assert.equal(server.http_bind, '127.0.0.1:8181');
});

it('lists every problem of a bad configuration', () => {
  const flags = new Map([
    ['http-bind', 'nowhere'],
    ['disable-authz', 'health,write'],
    ['services', 'tsdb,nothing'],
  ]);
  assert.throws(() => readSettings({ env: {}, flags }), {
    name: 'ConfigInvalid',
    problems: [
      '--http-bind: expected text like `127.0.0.1:8181`, got "nowhere"',
      `--services: expected list of ${[...SERVICE_NAMES, 'identity'].map((name) => `\`${name}\``).join(', ')}, got "tsdb,nothing"`,
      '--disable-authz: expected list of `health`, `ping`, `metrics`, `ready`, `pprof`, got "health,write"',
    ],
  });
});
