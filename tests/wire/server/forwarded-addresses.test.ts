// Source: docs/TLS-AND-PROXIES.md, "Use a reverse proxy": limits, bans, locks and the audit log use the address from a trusted proxy.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { AccountsServer, ServerInProcess } from '../../harness/index.js';

const CLIENT = '203.0.113.5';
const OTHER = '203.0.113.6';
/** Whether the proxy is trusted, and the resulting client address. */
const CASES = [
  { who: 'a trusted proxy', flags: ['--server-trusted-proxies', 'loopback'], expected: CLIENT },
  { who: 'nobody in particular', flags: [], expected: '127.0.0.1' },
];
const via = (address: string) => ({ 'x-forwarded-for': address });

for (const { who, flags, expected } of CASES) {
  describe(`an address reported by ${who}`, () => {
    const isBelieved = expected === CLIENT;

    it('is in the audit log', async () => {
      await using server = await ServerInProcess.start({
        flags: ['--services', 'tsdb', '--first-token', 'anyone', ...flags],
      });
      const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
      const headers = {
        ...{ authorization: `Bearer ${JSON.parse(made.text).token}` },
        ...{ 'content-type': 'application/json', ...via(CLIENT) },
      };
      const send = (path: string, body?: object) =>
        server.http.send(path, { method: 'POST', headers, body: JSON.stringify(body ?? {}) });
      assert.equal((await send('/api/v3/configure/database', { db: 'a' })).status, 200);
      assert.equal((await send('/query?q=CREATE+DATABASE+b')).status, 200);
      const q = "SELECT address, action FROM system.audit WHERE who = '_admin' ORDER BY time";
      const { text } = await send('/api/v3/query_sql', { db: '_internal', q, format: 'json_rows' });
      assert.deepEqual(JSON.parse(text), [
        { address: expected, action: 'POST /api/v3/configure/database' },
        { address: expected, action: 'POST /query' },
      ]);
    });

    it('comes with scheme and host for links', async () => {
      await using server = await ServerInProcess.start({
        flags: ['--services', 'webhooks', ...flags],
      });
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example' };
      const { text } = await server.http.send('/api/v3/app', { headers });
      const { documentation_url: url } = JSON.parse(text) as { readonly documentation_url: string };
      assert.equal(new URL(url).origin, isBelieved ? 'https://api.example' : server.url);
    });

    it('is the key for counting wrong editor tokens', async () => {
      const hash = createHash('sha256').update('right').digest('hex');
      await using server = await ServerInProcess.start({
        flags: ['--services', 'gamedata', '--rate-limit-ipv6-prefix', '48', ...flags],
        env: { PLINTH_GAMEDATA_TOKENS: `editor:${hash}:read` },
      });
      const guess = async (address: string): Promise<number> => {
        const headers = { authorization: 'Bearer wrong', ...via(address) };
        return (await server.http.send('/api/editor/items', { headers })).status;
      };
      for (let n = 0; n < 10; n++) assert.equal(await guess(CLIENT), 401);
      assert.equal(await guess(CLIENT), 429);
      assert.equal(await guess(OTHER), isBelieved ? 401 : 429);
      for (let n = 0; n < 10; n++) await guess('2001:db8:1:2::1');
      assert.equal(await guess('2001:db8:1:3::1'), 429, 'of one network of 48 bits');
      assert.equal(await guess('2001:db8:2:2::1'), isBelieved ? 401 : 429);
    });

    it('is recorded with the acceptance of terms', async () => {
      const server = await AccountsServer.start({ flags });
      try {
        const attestations = { representative_declaration: { attested: true } };
        const token = await server.ok('/v2/core/account_tokens', {
          key: 'pk_test',
          headers: via(CLIENT),
          body: { identity: { entity_type: 'company', attestations } },
        });
        const account = await server.create({ account_token: token.id, include: ['identity'] });
        assert.equal(account.identity.attestations.representative_declaration.ip, expected);
      } finally {
        await server.close();
      }
    });
  });
}

it('wrong passwords are counted per network of `rate_limit.ipv6_prefix`', async () => {
  await using server = await ServerInProcess.start({
    flags: [
      ...['--services', 'tsdb', '--server-trusted-proxies', 'loopback'],
      ...['--rate-limit-ipv6-prefix', '48', '--first-token', 'anyone'],
    ],
  });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const authorization = `Bearer ${JSON.parse(made.text).token}`;
  const create = `/query?${new URLSearchParams({ q: "CREATE USER ida WITH PASSWORD 'i'" })}`;
  const user = await server.http.send(create, { method: 'POST', headers: { authorization } });
  assert.equal(user.status, 200, user.text);
  const login = async (address: string): Promise<number> => {
    const path = '/query?q=SHOW+DATABASES&u=ida&p=wrong';
    return (await server.http.send(path, { headers: via(address) })).status;
  };
  for (let n = 0; n < 20; n++) assert.equal(await login('2001:db8:1:2::1'), 401);
  assert.equal(await login('2001:db8:1:3::1'), 429);
  assert.equal(await login('2001:db8:2:2::1'), 401);
});
