// Source: processing-engine, "Packages and environment", "Security".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installerEnvironment, pluginEnvironment } from './program-environment.js';

const SERVER = {
  PATH: '/usr/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  TZ: 'Europe/Berlin',
  INFLUXDB3_AUTH_TOKEN: 'theirs',
  AWS_SECRET_ACCESS_KEY: 'secret',
  PGPASSWORD: 'secret',
  NODE_OPTIONS: '--inspect',
  PLINTH_MASTER_KEY: 'secret',
  PLINTH_DATABASE_URL: 'postgres://u:secret@h/d',
  PIP_INDEX_URL: 'https://u:word@mirror.example/simple',
  UV_DEFAULT_INDEX: 'https://mirror.example/simple',
  https_proxy: 'http://proxy.example:3128',
  NO_PROXY: '.example',
  SSL_CERT_FILE: '/etc/ca.pem',
  PIPELINE_TOKEN: 'secret',
};
const PLACES = { virtualEnv: '/p/.venv', pluginFolder: '/p' };
const OWN = {
  PATH: '/p/.venv/bin:/usr/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  VIRTUAL_ENV: '/p/.venv',
  PLUGIN_DIR: '/p',
  INFLUXDB3_PLUGIN_DIR: '/p',
};
const nobody = { name: 'nobody', uid: 65_534, gid: 65_534, home: '/nonexistent' };

describe('the environment of plugins', () => {
  it('contains only the listed variables', () => {
    const rules = { names: [], user: undefined };
    assert.deepEqual(pluginEnvironment(SERVER, rules, PLACES), OWN);
    const without = { virtualEnv: undefined, pluginFolder: '/p' };
    const { VIRTUAL_ENV: _, ...rest } = OWN;
    assert.deepEqual(pluginEnvironment(SERVER, rules, without), { ...rest, PATH: '/usr/bin' });
  });

  it('contains the variables that the operator names, and the home of another user', () => {
    const names = ['INFLUXDB3_AUTH_TOKEN', 'NOT_THERE'];
    assert.deepEqual(pluginEnvironment(SERVER, { names, user: nobody }, PLACES), {
      ...OWN,
      HOME: '/nonexistent',
      INFLUXDB3_AUTH_TOKEN: 'theirs',
    });
  });

  it('contains the variables of package sources during an installation', () => {
    const kept = installerEnvironment(SERVER, { names: ['PGPASSWORD'], user: undefined });
    assert.deepEqual(Object.keys(kept).sort(), [
      ...['HOME', 'LANG', 'NO_PROXY', 'PATH', 'PGPASSWORD', 'PIP_INDEX_URL', 'SSL_CERT_FILE'],
      ...['UV_DEFAULT_INDEX', 'https_proxy'],
    ]);
  });
});
