import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Json, OwnServer } from '../harness/index.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const EDITOR = 'gd_kept';

/** Flags of a server whose folder is filled or checked. */
export const FLAGS: readonly string[] = [
  '--gamedata-tokens',
  `kept:${createHash('sha256').update(EDITOR).digest('hex')}:read+write+publish`,
];
const LINES = `rooms,room=Kitchen temp=21.5,n=9007199254740993i,u=18446744073709551615u,on=true,note="a \\"b\\"" 1700000000000000001
rooms,room=Bath temp=19 1700000000000000002
rooms,room=Bath temp=19.5 1700000000000000002`;
const LATER = 'rooms,room=Attic temp=12.25 1700000000000000003';
const ROWS = [
  'room,temp,n,u,on,note,t',
  'Kitchen,21.5,9007199254740993,18446744073709551615,true,"a ""b""",1700000000000000001',
  'Bath,19.5,,,,,1700000000000000002',
  'Attic,12.25,,,,,1700000000000000003',
];

/** Values needed to check the data again. */
export interface Facts {
  readonly admin: string;
  readonly user: string;
  readonly key: string;
  readonly account: string;
  readonly app: number;
  readonly clientId: string;
  readonly gameVersion: number;
  readonly item: string;
}

/** Sends a request and asserts success. */
async function ask(
  server: OwnServer,
  path: string,
  options: { readonly token?: string; readonly body?: unknown; readonly method?: string } = {},
): Promise<Json> {
  const { token, body, method } = options;
  const { status, text } = await server.http.send(path, {
    ...(method !== undefined && { method }),
    headers: { ...JSON_TYPE, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  assert.ok(status >= 200 && status < 300, `${path}: ${status} ${text}`);
  return text.startsWith('{') ? (JSON.parse(text) as Json) : { text };
}

/**
 * Stores data of every service through interfaces that every version has: in files,
 * and only in the commit log.
 * @param flushed resolves when the written data has reached files
 */
export async function fill(server: OwnServer, flushed: () => Promise<void>): Promise<Facts> {
  const post = (path: string, body: unknown, token?: string) =>
    ask(server, path, { method: 'POST', body, ...(token !== undefined && { token }) });
  const admin = String((await post('/api/v3/configure/token/admin', '')).token);
  await post('/api/v3/configure/database', { db: 'home', retention_period: '100y' }, admin);
  await post('/api/v3/write_lp?db=home&precision=ns', LINES, admin);
  await post('/api/v3/write_lp?db=home&precision=ns', 'gone v=1 1', admin);
  await ask(server, '/api/v3/configure/table?db=home&table=gone', {
    method: 'DELETE',
    token: admin,
  });
  const cache = { db: 'home', table: 'rooms', name: 'latest', key_columns: ['room'] };
  await post('/api/v3/configure/last_cache', cache, admin);
  const made = await post(
    '/ops/v1/apps',
    {
      name: 'kept',
      webhook: {
        url: 'https://hooks.example.com/kept',
        secret: 'sealed at rest',
        events: ['push'],
        active: false,
      },
    },
    admin,
  );
  await post('/ops/v1/identities', { kind: 'user', id: 7, plan: 'free' }, admin);
  const credential = { kind: 'personal', identity: 'user:7' };
  const user = String((await post('/ops/v1/credentials', credential, admin)).token);
  const keys = '/ops/v1/accounts/platforms/plat_default/keys';
  const key = String((await post(keys, { kind: 'secret', livemode: false }, admin)).value);
  const account = await post(
    '/v2/core/accounts',
    { display_name: 'Kept', contact_email: 'kept@example.com' },
    key,
  );
  const { items } = await ask(server, '/api/items?limit=1');
  const item = String(items[0].id);
  const patch = (weight: number) =>
    ask(server, `/api/editor/items/${item}`, { method: 'PATCH', body: { weight }, token: EDITOR });
  await patch(12.5);
  const published = await post('/api/editor/save', { message: 'kept' }, EDITOR);
  await patch(13.5);
  await flushed();
  await post('/api/v3/write_lp?db=home&precision=ns', LATER, admin);
  return {
    admin,
    user,
    key,
    account: String(account.id),
    app: Number(made.id),
    clientId: String(made.client_id),
    gameVersion: Number(published.version),
    item,
  };
}

/** Asserts that all data is present and can be extended. @param round number of this check, from 1 */
export async function check(server: OwnServer, facts: Facts, round: number): Promise<void> {
  const { admin, key, account, app } = facts;
  const sql = (q: string, format = 'csv') =>
    ask(server, `/api/v3/query_sql?db=home&format=${format}&q=${encodeURIComponent(q)}`, {
      token: admin,
    });
  const q =
    'SELECT room, temp, n, u, "on", note, CAST(time AS BIGINT) AS t FROM rooms WHERE temp < 100 ORDER BY time';
  assert.equal((await sql(q)).text, `${ROWS.join('\n')}\n`);
  const gone = await server.http.send('/api/v3/query_sql?db=home&q=SELECT%20*%20FROM%20gone', {
    headers: { authorization: `Bearer ${admin}` },
  });
  assert.equal(gone.status, 400, gone.text);
  await ask(server, '/api/v3/write_lp?db=home&precision=ns', {
    body: `rooms,room=New temp=${100 + round} ${round}`,
    token: admin,
  });
  const added = await sql('SELECT count(*) AS n FROM rooms WHERE temp >= 100');
  assert.equal(added.text, `n\n${round}\n`);
  // The cached values from the time when the folder was saved have expired by now.
  const cached = await sql("SELECT room, temp FROM last_cache('rooms') WHERE room = 'New'");
  assert.equal(cached.text, `room,temp\nNew,${100 + round}.0\n`);

  for (const name of [app, facts.clientId]) {
    const hook = (await ask(server, `/ops/v1/apps/${name}`, { token: admin })).hook;
    assert.deepEqual([hook.active, hook.events], [false, ['push']]);
    assert.equal(hook.config.url, 'https://hooks.example.com/kept');
  }
  const events = { event: 'push', payload: {}, app_id: app, id: `round ${round}` };
  await ask(server, '/ops/v1/events', { body: events, token: admin });

  assert.equal((await ask(server, '/ops/v1/identities/user:7', { token: admin })).plan, 'free');
  const limits = await ask(server, '/rate_limit', { token: facts.user });
  assert.equal(limits.resources.core.limit, 5000);

  const kept = await ask(server, `/v2/core/accounts/${account}`, { token: key });
  assert.deepEqual([kept.display_name, kept.contact_email], ['Kept', 'kept@example.com']);
  const display_name = `Kept ${round}`;
  const changed = await ask(server, `/v2/core/accounts/${account}`, {
    body: { display_name },
    token: key,
  });
  assert.equal(changed.display_name, display_name);
  await ask(server, `/v2/core/accounts/${account}`, { body: { display_name: 'Kept' }, token: key });

  const { versions } = await ask(server, '/api/versions');
  assert.ok(versions.some(({ version }: Json) => version === facts.gameVersion));
  const { item } = facts;
  assert.equal((await ask(server, `/api/items/${item}`)).weight, 12.5);
  const draft = await ask(server, `/api/editor/items/${item}`, { token: EDITOR });
  assert.equal(Object(draft.data ?? draft).weight, 13.5);
}
