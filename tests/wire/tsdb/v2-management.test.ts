// Source: tsdb-http, "v2 management"; InfluxDB 2.7, API reference.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

interface Response {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses of many routes
  readonly body: any;
}

describe('the management API of InfluxDB 2.x', () => {
  let server: ServerInProcess;
  let admin = '';
  before(async () => {
    server = await ServerInProcess.start({ flags: [] });
  });
  after(async () => await server.close());

  async function call(
    method: string,
    path: string,
    { body, token = admin }: { body?: unknown; token?: string } = {},
  ): Promise<Response> {
    const response = await server.http.send(`/api/v2${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== '' && { authorization: `Token ${token}` }),
      },
      ...(body !== undefined && {
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
    return {
      status: response.status,
      body: response.text === '' ? undefined : JSON.parse(response.text),
    };
  }
  const names = ({ body }: Response): readonly string[] =>
    body.buckets.map(({ name }: { name: string }) => name);
  const idOf = async (name: string): Promise<string> =>
    (await call('GET', `/buckets?name=${encodeURIComponent(name)}`)).body.buckets[0].id;

  it('sets up the server once', async () => {
    assert.deepEqual((await call('GET', '/setup')).body, { allowed: true });
    const wanted = { username: 'ann', password: 'secret-password', org: 'acme', bucket: 'first' };
    const bad = await call('POST', '/setup', { body: { ...wanted, bucket: 'a b' } });
    assert.equal(bad.status, 400);
    const preset = await call('POST', '/setup', { body: { ...wanted, token: 'mine' } });
    assert.equal(preset.status, 400);
    assert.deepEqual((await call('GET', '/setup')).body, { allowed: true });

    const done = await call('POST', '/setup', {
      body: { ...wanted, retentionPeriodSeconds: 86_400 },
    });
    assert.equal(done.status, 201);
    assert.equal(done.body.user.name, 'ann');
    assert.equal(done.body.org.name, 'acme');
    assert.deepEqual(done.body.bucket.retentionRules, [{ type: 'expire', everySeconds: 86_400 }]);
    admin = done.body.auth.token;

    assert.deepEqual((await call('GET', '/setup', { token: '' })).body, { allowed: false });
    for (const token of ['', admin]) {
      const again = await call('POST', '/setup', { body: wanted, token });
      assert.deepEqual([again.status, again.body.code], [422, 'conflict']);
    }
  });

  it('requires the claim code from other machines', async () => {
    await using open = await ServerInProcess.start({ flags: [] });
    const body = JSON.stringify({ username: 'ann', org: 'acme', bucket: 'first' });
    const set = (headers: Readonly<Record<string, string>>) =>
      open.http.send('/api/v2/setup', { method: 'POST', body, headers });
    const forwarded = { 'x-forwarded-for': '192.0.2.7' };
    assert.equal((await set(forwarded)).status, 403);
    const code = (await readFile(join(open.dataDir, 'claim-code'), 'utf8')).trimEnd();
    assert.equal((await set({ ...forwarded, 'x-plinth-claim-code': code })).status, 201);
  });

  it('creates, lists, changes and deletes buckets', async () => {
    const created = await call('POST', '/buckets', {
      body: { orgID: '0000000000000001', name: 'weather' },
    });
    assert.equal(created.status, 201);
    const { id } = created.body;
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.deepEqual(created.body.retentionRules, [{ type: 'expire', everySeconds: 0 }]);
    const policy = await call('POST', '/buckets', {
      body: {
        name: 'weather/week',
        retentionRules: [{ everySeconds: 604_800, shardGroupDurationSeconds: 86_400 }],
      },
    });
    assert.equal(policy.body.retentionRules[0].shardGroupDurationSeconds, 86_400);
    assert.deepEqual(names(await call('GET', '/buckets')), [
      '_internal',
      'first',
      'weather',
      'weather/week',
    ]);
    assert.deepEqual(names(await call('GET', '/buckets?name=weather')), ['weather']);
    assert.deepEqual(names(await call('GET', '/buckets?name=unknown')), []);
    assert.deepEqual(names(await call('GET', `/buckets?limit=1&after=${id}`)), ['weather/week']);
    assert.deepEqual(names(await call('GET', '/buckets?limit=1&offset=1')), ['first']);
    assert.deepEqual(names(await call('GET', '/buckets?after=ffffffffffffffff')), []);
    assert.equal((await call('GET', '/buckets?after=zzz')).status, 400);
    const parallel = await Promise.all(
      [1, 2, 3].map(() =>
        call('POST', '/buckets', { body: { name: 'race', orgID: '0000000000000001' } }),
      ),
    );
    assert.deepEqual(parallel.map(({ status }) => status).sort(), [201, 422, 422]);
    await call('DELETE', `/buckets/${parallel.find(({ status }) => status === 201)?.body.id}`);

    const changed = await call('PATCH', `/buckets/${id}`, {
      body: { name: 'weather', retentionRules: [{ type: 'expire', everySeconds: 3600 }] },
    });
    assert.equal(changed.body.retentionRules[0].everySeconds, 3600);
    assert.equal((await call('PATCH', `/buckets/${id}`, { body: { name: 'x' } })).status, 400);

    assert.equal((await call('DELETE', `/buckets/${id}`)).status, 204);
    const gone = await call('GET', `/buckets/${id}`);
    assert.equal(gone.status, 404);
    assert.deepEqual([gone.body.code, gone.body.message], ['not found', 'bucket not found']);
    // The retention policies of a database are deleted with it.
    assert.deepEqual(names(await call('GET', '/buckets')), ['_internal', 'first']);
  });

  it('refuses buckets that cannot be created, and changes nothing', async () => {
    const rows: readonly [unknown, number, string][] = [
      ['{"name":', 400, 'invalid'],
      [[], 400, 'invalid'],
      [{}, 400, 'invalid'],
      [{ name: 'a b' }, 400, 'invalid'],
      [{ name: '' }, 400, 'invalid'],
      [{ name: 'x'.repeat(65) }, 400, 'invalid'],
      [{ name: 'first' }, 422, 'conflict'],
      [{ name: 'first/autogen' }, 422, 'conflict'],
      [{ name: 'n', orgID: '00000000000000ff' }, 400, 'invalid'],
      [{ name: 'n', retentionRules: [{ everySeconds: -1 }] }, 400, 'invalid'],
      [{ name: 'n', retentionRules: [{ everySeconds: 1 }, { everySeconds: 2 }] }, 400, 'invalid'],
    ];
    for (const [body, status, code] of rows) {
      const response = await call('POST', '/buckets', { body });
      assert.deepEqual([response.status, response.body.code], [status, code], JSON.stringify(body));
    }
    for (const id of ['x', '0', '00000000000000zz', 'ffffffffffffffff', '0000000000000000'])
      assert.equal((await call('DELETE', `/buckets/${id}`)).status, 404, id);
    const internal = await call('DELETE', `/buckets/${await idOf('_internal')}`);
    assert.equal(internal.status, 403);
    assert.deepEqual(names(await call('GET', '/buckets')), ['_internal', 'first']);
  });

  it('has one organization, which every name refers to', async () => {
    const { body } = await call('GET', '/orgs?org=acme');
    assert.deepEqual([body.orgs.length, body.orgs[0].name], [1, 'acme']);
    assert.equal((await call('GET', `/orgs/${body.orgs[0].id}`)).body.id, body.orgs[0].id);
    assert.equal((await call('GET', '/orgs?orgID=00000000000000ff')).status, 404);
    assert.equal((await call('GET', '/orgs/00000000000000ff')).status, 404);
  });

  it('maps databases and retention policies to buckets', async () => {
    await call('POST', '/buckets', { body: { name: 'first/week' } });
    const { body } = await call('GET', '/dbrps?db=first&rp=week');
    assert.deepEqual(body.content, [
      {
        id: await idOf('first/week'),
        bucketID: await idOf('first/week'),
        database: 'first',
        retention_policy: 'week',
        default: false,
        orgID: '0000000000000001',
        virtual: true,
      },
    ]);
    const byDefault = await call('GET', '/dbrps?db=first&default=true');
    assert.equal(byDefault.body.content[0].retention_policy, 'autogen');
  });

  it('creates tokens that grant exactly the named buckets', async () => {
    const bucketId = await idOf('first');
    const created = await call('POST', '/authorizations', {
      body: {
        description: 'writer',
        permissions: [
          { action: 'write', resource: { type: 'buckets', id: bucketId } },
          { action: 'read', resource: { type: 'telegrafs' } },
        ],
      },
    });
    assert.equal(created.status, 201);
    const { id, token } = created.body;
    const listed = await call('GET', `/authorizations/${id}`);
    assert.equal(listed.body.token, 'REDACTED');
    assert.deepEqual(listed.body.permissions, [
      {
        action: 'write',
        resource: { type: 'buckets', id: bucketId, name: 'first', orgID: '0000000000000001' },
      },
    ]);
    const found = await call('GET', `/authorizations?token=${token}`);
    assert.deepEqual([found.body.authorizations.length, found.body.authorizations[0].id], [1, id]);

    const write = (db: string) =>
      server.http.send(`/api/v2/write?bucket=${db}`, {
        method: 'POST',
        headers: { authorization: `Token ${token}` },
        body: 'm v=1',
      });
    assert.equal((await write('first')).status, 204);
    assert.equal((await write('other')).status, 403);
    // The token sees only its bucket and may change nothing.
    assert.deepEqual(names(await call('GET', '/buckets', { token })), ['first', 'first/week']);
    assert.equal((await call('GET', `/buckets/${await idOf('_internal')}`, { token })).status, 404);
    assert.equal((await call('POST', '/buckets', { token, body: { name: 'n' } })).status, 403);
    assert.equal((await call('DELETE', `/buckets/${bucketId}`, { token })).status, 403);
    assert.equal((await call('GET', '/authorizations', { token })).status, 403);
    assert.equal((await call('GET', '/me', { token })).body.name, 'writer');

    const second = await call('POST', '/authorizations', {
      body: {
        description: 'writer',
        permissions: [{ action: 'read', resource: { type: 'buckets' } }],
      },
    });
    assert.equal(second.body.description, 'writer 2');
    const inactive = { body: { status: 'inactive' } };
    assert.equal((await call('PATCH', `/authorizations/${id}`, inactive)).status, 400);
    assert.equal((await call('DELETE', `/authorizations/${id}`)).status, 204);
    assert.equal((await write('first')).status, 401);
    assert.equal((await call('GET', `/authorizations/${id}`)).status, 404);
  });

  it('creates an admin token only if authorizations and all buckets may be written', async () => {
    const write = (resource: object) => ({ action: 'write', resource });
    const create = (...permissions: object[]) =>
      call('POST', '/authorizations', { body: { description: 'a', permissions } });
    const mayManage = async ({ body }: Response) =>
      (await call('GET', '/authorizations', { token: body.token })).status;
    const all = await create(write({ type: 'authorizations' }), write({ type: 'buckets' }));
    assert.equal(await mayManage(all), 200);
    for (const other of [
      await create(write({ type: 'buckets' })),
      await create(write({ type: 'authorizations' }), write({ type: 'buckets', name: 'first' })),
    ])
      assert.equal(await mayManage(other), 403);
  });

  it('refuses authorizations that name nothing, and changes nothing', async () => {
    const before = (await call('GET', '/authorizations')).body.authorizations.length;
    const read = (resource: object) => ({ permissions: [{ action: 'read', resource }] });
    const rows: readonly unknown[] = [
      {},
      { permissions: [] },
      { permissions: [{ action: 'own', resource: { type: 'buckets' } }] },
      read({ type: 'dashboards' }),
      read({ type: 'buckets', id: '00000000000000ff' }),
      read({ type: 'buckets', id: 'first' }),
      read({ type: 'buckets', name: 'unknown' }),
      read({ type: 'buckets', orgID: '00000000000000ff' }),
      // These two permissions create an admin token in the organization of this server.
      {
        permissions: ['authorizations', 'buckets'].map((type) => ({
          action: 'write',
          resource: { type, orgID: '00000000000000ff' },
        })),
      },
      { ...read({ type: 'buckets' }), status: 'inactive' },
      { ...read({ type: 'buckets' }), description: 'a\nb' },
      { ...read({ type: 'buckets' }), description: 'x'.repeat(300) },
    ];
    for (const body of rows)
      assert.equal(
        (await call('POST', '/authorizations', { body })).status,
        400,
        JSON.stringify(body),
      );
    const operator = await call('DELETE', '/authorizations/0000000000000001');
    assert.equal(operator.status, 405);
    const after = (await call('GET', '/authorizations')).body.authorizations.length;
    assert.equal(after, before);
  });
});
