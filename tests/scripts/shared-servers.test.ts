// Source: docs/TESTING.md, "Choose a server": one process for all files with the same flags.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SharedServer } from '../harness/index.js';

it('test files with the same flags share a server, and one that does not start says why', async () => {
  const flags = ['--services', 'ratelimit', '--disable-authz', 'health'];
  const all = [flags, flags, ['--without-auth', '--services', 'ratelimit']];
  const [one, other, open] = await Promise.all(
    all.map((each) => SharedServer.get({ flags: each })),
  );
  assert.ok(one && other && open);
  assert.equal(one.url, other.url);
  assert.notEqual(one.url, open.url);
  const ask = async (authorization: string) =>
    (await one.http.send('/ops/v1/settings', { headers: { authorization } })).status;
  assert.equal(await ask(`Bearer ${other.adminToken}`), 200);
  assert.equal(await ask('Bearer apiv3_another'), 401);
  assert.throws(() => open.adminToken, /requires no token/);
  await assert.rejects(
    SharedServer.get({ flags: ['--no-such-flag'] }),
    /did not start: .*no-such-flag/s,
  );
  for (const server of [one, other, open]) await server.close();
});
