// Source: docs/SETTINGS.md; RFC 4632: an IPv4 prefix has at most 32 bits.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess, StartFailed } from '../../harness/index.js';

const flagsOf = (name: string, value: string) => ['--without-auth', `--${name}`, value];

it('invalid networks in settings prevent the start with a clear message', async () => {
  const target = /expected list like `[\d.,/]+`, got /;
  for (const [name, value, reason] of [
    ['server-trusted-proxies', 'foo', /server\.trusted_proxies: invalid network "foo"/],
    [
      'server-trusted-proxies',
      '10.0.0.0/99',
      /server\.trusted_proxies: invalid network "10\.0\.0\.0\/99"/,
    ],
    ['webhooks-allow-private-targets', '127.0.0.0/99', target],
    ['webhooks-allow-private-targets', 'http://hooks', target],
    ['accounts-allow-private-targets', '10.0.0.1/8x', target],
    ['accounts-allow-private-targets', '999', target],
  ] as const) {
    await assert.rejects(ServerInProcess.start({ flags: flagsOf(name, value) }), (error) => {
      assert.ok(error instanceof StartFailed, `${name} ${value}`);
      assert.equal(error.code, 2, error.message);
      assert.match(error.message, reason);
      assert.match(
        error.message,
        new RegExp(name.replace(/^server-/, 'server.').replaceAll('-', '[-_.]')),
      );
      return true;
    });
  }
});

it('networks, addresses and host names are accepted', async () => {
  for (const value of [
    '10.0.0.0/8',
    '::1/128',
    'fd00::/8',
    '192.0.2.7',
    'hooks',
    'a.example',
    '*',
  ]) {
    await using server = await ServerInProcess.start({
      flags: flagsOf('webhooks-allow-private-targets', value),
    });
    assert.ok(server.url, value);
  }
});
