// Source: tsdb-http, "Tokens".
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  assertError,
  type HttpRequest,
  type HttpResponse,
  ServerInProcess,
} from '../../harness/index.js';

interface TokenObject {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly hash: string;
  readonly created_at: string;
  readonly expiry: string | null;
}

let server: ServerInProcess;
let admin: TokenObject;
/** Around the moment when the admin token was made. */
const bounds = { startMs: 0, endMs: 0 };
before(async () => {
  server = await ServerInProcess.start({ flags: [] });
  bounds.startMs = Date.now();
  const created = await server.http.send(ADMIN, { method: 'POST' });
  bounds.endMs = Date.now();
  admin = tokenOf(created);
});
after(async () => await server.close());

const ADMIN = '/api/v3/configure/token/admin';
const NAMED = '/api/v3/configure/token/named_admin';
const TOKEN = '/api/v3/configure/token';
const UNAUTHENTICATED = 'the request was not authenticated';

function tokenOf(response: HttpResponse): TokenObject {
  assert.equal(response.status, 201, response.text);
  assert.equal(response.headers['content-type'], 'application/json');
  return JSON.parse(response.text) as TokenObject;
}

const call = (path: string, options: HttpRequest & { readonly token?: string } = {}) =>
  server.http.send(path, {
    ...options,
    headers: { authorization: `Bearer ${options.token ?? admin.token}`, ...options.headers },
  });
const createNamed = (body: unknown, headers: HttpRequest['headers'] = JSON_TYPE) =>
  call(NAMED, { body: typeof body === 'string' ? body : JSON.stringify(body), headers });
const JSON_TYPE = { 'content-type': 'application/json' };
const works = async (token: string) => (await call('/health', { token })).status === 200;
const sha512 = (text: string) => createHash('sha512').update(text).digest('hex');
const remove = (name: string) => call(`${TOKEN}?token_name=${name}`, { method: 'DELETE' });

describe('the admin token', () => {
  it('K-01 has 64 random bytes behind its prefix and shows its hash', () => {
    assert.match(admin.token, /^apiv3_[A-Za-z0-9_-]{86}$/);
    assert.equal(admin.token.length, 92);
    assert.equal(Buffer.from(admin.token.slice(6), 'base64url').length, 64);
    assert.deepEqual(Object.entries(admin), [
      ['id', 0],
      ['name', '_admin'],
      ['token', admin.token],
      ['hash', sha512(admin.token)],
      ['created_at', admin.created_at],
      ['expiry', null],
    ]);
  });

  it('K-01 says when it was made, in UTC and milliseconds', () => {
    assert.match(admin.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const createdMs = Date.parse(admin.created_at);
    assert.ok(createdMs >= bounds.startMs && createdMs <= bounds.endMs, admin.created_at);
  });

  it('K-01 needs no body, and ignores one whatever it says it is', async () => {
    const taken = 'token name already exists, _admin';
    for (const type of ['application/json', 'text/plain']) {
      for (const body of ['', '{', '{"token_name":"x"}']) {
        const headers = { 'content-type': type };
        assertError(await call(ADMIN, { method: 'POST', body, headers }), 409, taken);
      }
    }
  });

  it('K-02 gets another text, and the old one is worthless at once', async () => {
    const unauthenticated = await server.http.send(`${ADMIN}/regenerate`, { method: 'POST' });
    assertError(unauthenticated, 401, UNAUTHENTICATED);
    const old = admin;
    admin = tokenOf(await call(`${ADMIN}/regenerate`, { method: 'POST' }));
    assert.notEqual(admin.token, old.token);
    assert.deepEqual(admin, { ...old, token: admin.token, hash: sha512(admin.token) });
    assertError(await call('/health', { token: old.token }), 401, UNAUTHENTICATED);
    assertError(
      await call(`${ADMIN}/regenerate`, { method: 'POST', token: old.token }),
      401,
      UNAUTHENTICATED,
    );
    assert.ok(await works(admin.token));
  });

  it('K-03 cannot be deleted', async () => {
    assertError(await remove('_admin'), 405, 'cannot delete operator token');
    assert.ok(await works(admin.token));
  });
});

describe('a named token', () => {
  it('K-03 may do all that the admin token may', async () => {
    const named = tokenOf(await createNamed({ token_name: 'ci' }));
    assert.match(named.token, /^apiv3_[A-Za-z0-9_-]{86}$/);
    assert.equal(named.hash, sha512(named.token));
    assert.deepEqual([named.id, named.name, named.expiry], [1, 'ci', null]);
    const { token } = named;
    const write = await call('/api/v3/write_lp?db=k', { body: 'm v=1 1', token });
    assert.equal(write.status, 204);
    admin = tokenOf(await call(`${ADMIN}/regenerate`, { method: 'POST', token }));
    assert.ok(await works(token));
  });

  it('K-03 is refused when its name is taken or its body is wrong', async () => {
    assertError(await createNamed({ token_name: 'ci' }), 409, 'token name already exists, ci');
    assertError(
      await createNamed({ token_name: '_admin' }),
      409,
      'token name already exists, _admin',
    );
    assertError(await createNamed({}), 400, 'serde json error: missing field `token_name`');
    for (const body of [
      '',
      '{',
      '[]',
      '{"token_name":1}',
      // Characters that stores do not preserve: half of a surrogate pair, and control characters.
      '{"token_name":"t\\ud800"}',
      '{"token_name":"t\\u0000"}',
      '{"token_name":"t\\u009b"}',
      // Separators of lines, and marks that reverse the text around them.
      '{"token_name":"t\\u2028"}',
      '{"token_name":"t\\u202e"}',
      '{"token_name":"\\u2066t"}',
      // Invisible characters, with which a second token could look like an existing one.
      '{"token_name":"ci\\u200b"}',
      '{"token_name":"ci\\u200d"}',
      '{"token_name":"ci\\udb40\\udc41"}',
      '{"token_name":"x","expiry_secs":"1"}',
    ]) {
      const response = await createNamed(body);
      assert.equal(response.status, 400, body);
      assert.match(response.text, /^\{"error":"serde json error: .+","data":\{\}\}$/);
    }
    const unacceptable = 'unacceptable content-type, expected: application/json';
    for (const type of [{}, { 'content-type': 'text/plain' }]) {
      assertError(await createNamed({ token_name: 'y' }, type), 415, unacceptable);
    }
    const vendor = { 'content-type': 'application/vnd.x+json' };
    assert.equal((await createNamed({ token_name: 'y' }, vendor)).status, 201);
    const none = await server.http.send(NAMED, { body: '{"token_name":"z"}', headers: JSON_TYPE });
    assertError(none, 401, UNAUTHENTICATED);
  });

  it('T-03 takes a body in gzip and refuses other encodings', async () => {
    const send = (body: string | Uint8Array, encoding: string) =>
      call(NAMED, { body, headers: { ...JSON_TYPE, 'content-encoding': encoding } });
    const body = '{"token_name":"zipped"}';
    assertError(await send(body, 'deflate'), 400, 'unacceptable content-encoding: deflate');
    const damaged = await send(body, 'gzip');
    assert.equal(damaged.status, 400, damaged.text);
    assert.match(damaged.text, /^\{"error":"error decoding gzip stream: .+","data":\{\}\}$/);
    assert.equal((await send(gzipSync(Buffer.alloc(12_000_000)), 'gzip')).status, 413);
    assert.equal(tokenOf(await send(gzipSync(body), 'gzip')).name, 'zipped');
  });

  it('K-03 expires', async () => {
    const soon = tokenOf(await createNamed({ token_name: 'soon', expiry_secs: 1 }));
    const late = tokenOf(await createNamed({ token_name: 'late', expiry_secs: 3600 }));
    assert.equal(lifeMsOf(soon), 1000);
    assert.equal(lifeMsOf(late), 3_600_000);
    while (await works(soon.token)) {
      assert.ok(Date.now() < Date.parse(soon.expiry ?? '') + 5000, 'it lives on');
      await sleep(50);
    }
    assert.ok(Date.now() >= Date.parse(soon.expiry ?? ''), 'it died before its time');
    assertError(await call('/health', { token: soon.token }), 401, UNAUTHENTICATED);
    assert.ok(await works(late.token));
    assertError(await createNamed({ token_name: 'soon' }), 409, 'token name already exists, soon');
  });

  it('K-03 is worthless once it is deleted, and its name is free', async () => {
    const first = tokenOf(await createNamed({ token_name: 'gone' }));
    const deleted = await remove('gone');
    assert.deepEqual([deleted.status, deleted.text], [200, '']);
    assert.equal(await works(first.token), false);
    assertError(await remove('gone'), 404, 'the requested resource was not found: gone');
    const missing = await call(TOKEN, { method: 'DELETE' });
    assertError(missing, 400, 'serde error: missing field `token_name`');
    const second = tokenOf(await createNamed({ token_name: 'gone' }));
    assert.ok(second.id > first.id);
    assert.equal(await works(first.token), false);
  });
});

describe('tokens', () => {
  it('K-01 are nowhere on the disk, only their hashes', async () => {
    const named = tokenOf(await createNamed({ token_name: 'disk' }));
    const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
    let hasHash = false;
    for (const file of files.filter((entry) => entry.isFile())) {
      const bytes = await readFile(join(file.parentPath, file.name), 'latin1');
      for (const { token } of [named, admin]) {
        assert.equal(bytes.includes(token.slice(6)), false, file.name);
        assert.equal(bytes.includes(token.slice(6, 40)), false, file.name);
      }
      hasHash ||= bytes.includes(named.hash);
    }
    assert.ok(hasHash, 'the hash is stored as text');
  });

  it('K-03 outlive crash and restart, deleted and expired ones do not come back', async () => {
    const kept = tokenOf(await createNamed({ token_name: 'kept' }));
    const gone = tokenOf(await createNamed({ token_name: 'deleted' }));
    const short = tokenOf(await createNamed({ token_name: 'short', expiry_secs: 0 }));
    await remove('deleted');
    const old = admin.token;
    admin = tokenOf(await call(`${ADMIN}/regenerate`, { method: 'POST' }));
    const { dataDir } = server;
    const end = [() => server.kill(), async () => void (await server.stop())];
    for (const stop of end) {
      await stop();
      server = await ServerInProcess.start({ dataDir, flags: [] });
      assert.ok(await works(admin.token));
      assert.ok(await works(kept.token));
      for (const token of [old, gone.token, short.token]) assert.equal(await works(token), false);
    }
    const next = tokenOf(await createNamed({ token_name: 'next' }));
    assert.ok(next.id > short.id);
  });
});

const lifeMsOf = ({ created_at, expiry }: TokenObject) =>
  Date.parse(expiry ?? '') - Date.parse(created_at);
