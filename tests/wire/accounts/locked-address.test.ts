// Source: accounts, section 2.2 (clients detect a failure only by `error`); rate-limits, sections
// 3.1 and 4.3.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { AccountsServer } from '../../harness/index.js';

const ACCOUNTS = '/v2/core/accounts?limit=1';

/** Starts a server per test, so that counters start at zero. */
async function start(context: TestContext): Promise<AccountsServer> {
  const server = await AccountsServer.start({
    flags: ['--services=accounts,ratelimit', '--rate-limit-services={"accounts":{"enabled":true}}'],
  });
  context.after(() => server.close());
  return server;
}

it('does not count refusals of valid keys, and rejects a locked address in the format of this service', async (context) => {
  const server = await start(context);
  for (let index = 0; index < 51; index += 1) {
    const response = await server.send(ACCOUNTS, { key: 'pk_test' });
    assert.equal(response.status, 403, response.text);
    assert.equal(JSON.parse(response.text).error.code, 'secret_key_required');
  }
  assert.equal((await server.send(ACCOUNTS, { key: 'sk_live' })).status, 200);
  for (let index = 0; index < 51; index += 1) {
    const headers = { authorization: `Bearer wrong${index}` };
    const response = await server.process.http.send('/api/v3/meta', { headers });
    assert.equal(response.status, 401, response.text);
  }
  const locked = await server.send(ACCOUNTS, { key: 'sk_test_wrong' });
  assert.equal(locked.status, 403);
  assert.deepEqual(JSON.parse(locked.text), {
    error: {
      type: 'rate_limit',
      code: 'rate_limit',
      message: 'Maximum number of login attempts exceeded. Please try again later.',
    },
  });
  assert.equal((await server.send(ACCOUNTS)).status, 200);
  assert.equal((await server.send(ACCOUNTS, { key: 'sk_live' })).status, 200);
});

it('counts wrong keys of this service and never accepts one of them', async (context) => {
  const server = await start(context);
  const unknown = 'sk_test_wrong';
  for (let index = 0; index < 51; index += 1) {
    const isChange = index % 2 === 1;
    const response = isChange
      ? await server.send('/v2/core/accounts', { key: unknown, body: {} })
      : await server.send(ACCOUNTS, { key: unknown });
    assert.equal(response.status, 401, response.text);
  }
  assert.equal((await server.send(ACCOUNTS, { key: unknown })).status, 403);
  assert.equal((await server.send(ACCOUNTS, { key: 'sk_live' })).status, 200);
  // A request without a credential does not count as a guess.
  assert.equal((await server.send(ACCOUNTS, { key: null })).status, 401);
});
