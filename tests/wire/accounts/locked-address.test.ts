// Source: accounts, section 2.2 (clients know a failure by `error` alone); rate-limits, sections 3.1 and 4.3.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { AccountsServer } from '../../harness/index.js';

const ACCOUNTS = '/v2/core/accounts?limit=1';

let server: AccountsServer;
before(async () => {
  server = await AccountsServer.start({
    flags: ['--services=accounts,ratelimit', '--rate-limit-services={"accounts":{"enabled":true}}'],
  });
});
after(async () => await server.close());

it('an address with too many wrong credentials is refused in the words of this service, but not its known keys', async () => {
  assert.equal((await server.send(ACCOUNTS)).status, 200);
  for (let index = 0; index < 51; index += 1) {
    const headers = { authorization: `Bearer wrong${index}` };
    const answer = await server.process.http.send('/api/v3/meta', { headers });
    assert.equal(answer.status, 401, answer.text);
  }
  const locked = await server.send(ACCOUNTS, { key: 'sk_live' });
  assert.equal(locked.status, 403);
  assert.deepEqual(JSON.parse(locked.text), {
    error: {
      type: 'rate_limit',
      code: 'rate_limit',
      message: 'Maximum number of login attempts exceeded. Please try again later.',
    },
  });
  assert.equal((await server.send(ACCOUNTS)).status, 200);
});
