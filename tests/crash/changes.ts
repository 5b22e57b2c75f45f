import { type HttpResponse, KEYS, type RunningServer } from '../harness/index.js';
import type { WebhookApp } from '../harness/webhook-app.js';

const EDITOR = 'editor-token-for-tests';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Variables of a server that accepts these changes. */
export const CHANGE_ENV = {
  PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR,
  PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: KEYS.sk_test,
} as const;

/** One change of each service that stores data, distinguished by `n`. Limits are counted in memory. */
export const changesOf = (
  server: RunningServer,
  app: WebhookApp,
): Readonly<Record<string, (n: number) => Promise<HttpResponse>>> => ({
  tsdb: (n) =>
    server.http.send('/api/v3/write_lp?db=d&precision=s', {
      body: `m v=${n}i,s="${'x'.repeat(20_000)}" ${n}`,
    }),
  v2: (n) =>
    server.http.send('/api/v2/write?bucket=d&precision=s', {
      body: `w v=${n}i,s="${'x'.repeat(20_000)}" ${n}`,
    }),
  catalog: (n) => server.http.send('/api/v3/write_lp?db=d', { body: `t${n} v=1i 1` }),
  database: (n) =>
    server.http.send('/api/v3/configure/database', {
      body: JSON.stringify({ db: `database${n}` }),
      headers: JSON_TYPE,
    }),
  identity: (n) =>
    server.http.send('/ops/v1/identities', {
      body: JSON.stringify({ kind: 'user', id: n }),
      headers: JSON_TYPE,
    }),
  accounts: (n) =>
    server.http.send('/v2/core/accounts', {
      body: JSON.stringify({ display_name: `a ${n}`, contact_email: `a${n}@example.com` }),
      headers: {
        ...JSON_TYPE,
        authorization: `Bearer ${KEYS.sk_test}`,
        'idempotency-key': `key ${n}`,
      },
    }),
  webhooks: (n) =>
    app.call('/api/v3/app/hook/config', {
      method: 'PATCH',
      body: JSON.stringify({ url: `https://example.com/${n}/${'x'.repeat(1000)}` }),
      headers: JSON_TYPE,
    }),
  operator: (n) =>
    server.http.send('/ops/v1/apps', {
      body: JSON.stringify({ name: `n${n}` }),
      headers: JSON_TYPE,
    }),
  gamedata: (n) =>
    server.http.send('/api/editor/items', {
      body: JSON.stringify({ id: `thing-${n}`, name: 'x'.repeat(200), category: 'barter' }),
      headers: { ...JSON_TYPE, authorization: `Bearer ${EDITOR}` },
    }),
});
