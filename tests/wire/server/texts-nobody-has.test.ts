// Source: docs/SECURITY-CREDENTIALS.md, "Credential guessing" and "Names and keys": impossible names and keys are unknown in every store.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  makeJwt,
  nowSec,
  POSTGRES_URL,
  ServerInProcess,
  TestDatabase,
  WebhookApp,
} from '../../harness/index.js';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const HALF = '\ud800';

/** Server flags for both stores. */
const STORES = ['SQLite', 'PostgreSQL'] as const;

for (const store of STORES) {
  const skip =
    store === 'PostgreSQL' && POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL';

  describe(`impossible strings, with ${store}`, { skip }, () => {
    const flags = async (context: TestContext): Promise<string[]> => {
      if (store === 'SQLite') return [];
      const database = await TestDatabase.create();
      context.after(() => database[Symbol.asyncDispose]());
      return ['--server-database-url', database.url];
    };
    const start = async (context: TestContext) => {
      const server = await ServerInProcess.start({
        flags: [...(await flags(context)), '--without-auth'],
      });
      context.after(() => server.close());
      return server;
    };

    it('in a credential count as a wrong credential, not as a store failure', async (context) => {
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
        const response = await ask('/app', token);
        // Webhooks, section 3: an issuer that is not an app.
        assert.equal(response.status, 404, response.text);
        assert.equal(JSON.parse(response.text).message, 'Integration not found');
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

    it('in a path return 404, and in an identity key 422', async (context) => {
      const server = await start(context);
      for (const path of [
        '/ops/v1/apps/%00',
        '/ops/v1/apps/a%00',
        '/ops/v1/identities/user:%00',
        '/ops/v1/identities/%00',
        '/ops/v1/accounts/platforms/plat_default/accounts/%00',
        '/ops/v1/rate-limits/user:%00',
      ]) {
        const response = await server.http.send(path);
        assert.equal(response.status, 404, `${path}: ${response.text}`);
      }
      const list = '/ops/v1/identities?cursor=%00';
      assert.equal((await server.http.send(list)).status, 200);
      for (const identity of ['user:\0', 'user:\u0007', `user:${HALF}`]) {
        const body = JSON.stringify({ identity });
        const asked = await server.http.send('/ops/v1/rate-limits/check', { body });
        assert.equal(asked.status, 422, asked.text);
      }
    });

    it('in the name or id of a new item are refused, because they could collide', async (context) => {
      const server = await start(context);
      const post = (path: string, body: object) =>
        server.http.send(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      const configure = '/api/v3/configure';
      await server.http.send('/api/v3/write_lp?db=d', { method: 'POST', body: 'm,t=a v=1 1' });
      const app = await post('/ops/v1/apps', { name: 'app' });
      const { id: app_id } = JSON.parse(app.text) as { readonly id: number };
      const columns = { tags: ['t'], fields: [] };
      const cases = (name: string): readonly [string, object, number][] => [
        [`${configure}/table`, { db: 'd', table: name, ...columns }, 400],
        [`${configure}/last_cache`, { db: 'd', table: 'm', name }, 400],
        [`${configure}/distinct_cache`, { db: 'd', table: 'm', columns: ['t'], name }, 400],
        [
          `${configure}/processing_engine_trigger`,
          {
            ...{ db: 'd', trigger_name: name, plugin_filename: 'x.py' },
            trigger_specification: 'all_tables',
          },
          400,
        ],
        ['/ops/v1/apps', { name }, 422],
        ['/ops/v1/events', { event: 'issues', payload: {}, app_id, id: name }, 422],
        ['/ops/v1/events', { event: 'issues', payload: {}, app_id, ordering_key: name }, 422],
        ['/ops/v1/identities', { kind: 'oauth_app', id: name }, 422],
      ];
      for (const name of [`a${HALF}`, '\udc00', 'a\0', 'a\u0007', 'a\u009b']) {
        for (const [path, body, status] of cases(name)) {
          const refused = await post(path, body);
          const shown = `${path} ${JSON.stringify(name)}: ${refused.status} ${refused.text}`;
          assert.equal(refused.status, status, shown);
        }
      }
      const column = { db: 'd', table: 'n', tags: [HALF], fields: [] };
      assert.equal((await post(`${configure}/table`, column)).status, 400);
      // Valid characters are stored unchanged.
      const whole = { db: 'd', table: 'm', name: '\u{1f600} \ufffd' };
      assert.equal((await post(`${configure}/last_cache`, whole)).status, 201);
    });
  });
}
