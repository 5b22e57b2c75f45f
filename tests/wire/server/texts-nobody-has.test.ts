// Source: docs/SECURITY.md, "Credentials" and "The port": what cannot be anybody's is nobody's, whatever the store.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  makeJwt,
  nowSec,
  POSTGRES_URL,
  ServerProcess,
  TestDatabase,
  WebhookApp,
} from '../../harness/index.js';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const HALF = '\ud800';

/** Of both stores the flags of a server. */
const STORES = ['SQLite', 'PostgreSQL'] as const;

for (const store of STORES) {
  const skip =
    store === 'PostgreSQL' && POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL';

  describe(`texts that nobody has, with ${store}`, { skip }, () => {
    const flags = async (context: TestContext): Promise<string[]> => {
      if (store === 'SQLite') return [];
      const database = await TestDatabase.create();
      context.after(() => database[Symbol.asyncDispose]());
      return ['--server-database-url', database.url];
    };
    const start = async (context: TestContext) => {
      const server = await ServerProcess.start({
        flags: [...(await flags(context)), '--without-auth'],
      });
      context.after(() => server.close());
      return server;
    };

    it('in a credential are a wrong credential that is counted, not a store that is away', async (context) => {
      const server = await start(context);
      const app = await WebhookApp.register(server, undefined);
      const ask = (path: string, authorization?: string) =>
        server.http.send(path, authorization === undefined ? {} : { headers: { authorization } });
      const used = async () =>
        JSON.parse((await ask('/rate_limit')).text).resources.core.used as number;
      const times = { iat: nowSec() - 5, exp: nowSec() + 60 };
      const before = await used();
      const tokens = ['Iv23nobody', '\0', 'Iv23\0', HALF, 'a\u0007'].map(
        (iss) => `Bearer ${makeJwt(app.pem, { ...times, iss })}`,
      );
      for (const token of tokens) {
        const answer = await ask('/app', token);
        // Webhooks, section 3: an issuer that is no app.
        assert.equal(answer.status, 404, answer.text);
        assert.equal(JSON.parse(answer.text).message, 'Integration not found');
      }
      assert.equal(await used(), before + tokens.length);
      for (const login of ['\0:\0', 'Iv\0:x', 'x:\u0007']) {
        assert.equal((await ask('/rate_limit', basic(login))).status, 401);
        assert.equal((await ask('/ops/v1/rate-limits/auth', basic(login))).status, 401);
        const body = JSON.stringify({ authorization: basic(login) });
        const asked = await server.http.send('/ops/v1/rate-limits/check', { body });
        assert.equal(asked.status, 200, asked.text);
      }
    });

    it('in a path are 404, and in the key of an identity 422', async (context) => {
      const server = await start(context);
      for (const path of [
        '/ops/v1/apps/%00',
        '/ops/v1/apps/a%00',
        '/ops/v1/identities/user:%00',
        '/ops/v1/identities/%00',
        '/ops/v1/accounts/platforms/plat_default/accounts/%00',
        '/ops/v1/rate-limits/user:%00',
      ]) {
        const answer = await server.http.send(path);
        assert.equal(answer.status, 404, `${path}: ${answer.text}`);
      }
      const list = '/ops/v1/identities?cursor=%00';
      assert.equal((await server.http.send(list)).status, 200);
      for (const identity of ['user:\0', 'user:\u0007', `user:${HALF}`]) {
        const body = JSON.stringify({ identity });
        const asked = await server.http.send('/ops/v1/rate-limits/check', { body });
        assert.equal(asked.status, 422, asked.text);
      }
    });
  });
}
