// Source: tsdb-http, "Authentication and authorization".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  assertJson,
  type HttpRequest,
  type HttpResponse,
  ServerInProcess,
  StartFailed,
} from '../../harness/index.js';

let server: ServerInProcess;
let token = '';
before(async () => {
  server = await ServerInProcess.start({ flags: ['--log-level', 'debug'] });
  const created = await server.http.send(ADMIN, { method: 'POST' });
  assert.equal(created.status, 201, created.text);
  token = (JSON.parse(created.text) as { token: string }).token;
});
after(async () => await server.close());

const ADMIN = '/api/v3/configure/token/admin';
const UNAUTHENTICATED = 'the request was not authenticated';
const MALFORMED =
  "Authorization header was malformed, the request was not in the form of 'Authorization: <auth-scheme> <token>', supported auth-schemes are Bearer, Token and Basic";

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const send = (path: string, authorization?: string, options: HttpRequest = {}) =>
  server.http.send(path, {
    ...options,
    headers: { ...options.headers, ...(authorization === undefined ? {} : { authorization }) },
  });

function assertUnauthenticated(response: HttpResponse): void {
  assertError(response, 401, UNAUTHENTICATED);
  assert.equal(response.headers['www-authenticate'], 'Bearer realm="plinth"');
  assert.match(String(response.headers['cluster-uuid']), /^[0-9a-f-]{36}$/);
}

/** One request to each kind of endpoint, with its status for a valid token. */
const ENDPOINTS: readonly (readonly [path: string, status: number, options?: HttpRequest])[] = [
  ['/api/v3/write_lp?db=auth', 204, { body: 'm v=1 1' }],
  ['/write?db=auth', 204, { body: 'm v=1 1' }],
  ['/api/v2/write?bucket=auth', 204, { body: 'm v=1 1' }],
  ['/api/v3/query_sql?db=_internal&q=SELECT%201', 200],
  ['/api/v3/query_sql', 200, { body: '{"db":"_internal","q":"SELECT 1"}' }],
  ['/health', 200],
  ['/api/v1/health', 200],
  ['/ping', 200],
  ['/metrics', 200],
  ['/ready', 200],
];

describe('a request', () => {
  it('A-01 with the admin token as Bearer may do everything', async () => {
    for (const [path, status, options] of ENDPOINTS) {
      const response = await send(path, `Bearer ${token}`, options);
      assert.equal(response.status, status, `${path}: ${response.text}`);
    }
  });

  it('A-01 without a token is refused everywhere, on unknown paths as well', async () => {
    const v2 = { code: 'unauthorized', message: 'unauthorized access' };
    for (const [path, , options] of ENDPOINTS) {
      const response = await send(path, undefined, options);
      if (!path.startsWith('/api/v2')) assertUnauthenticated(response);
      else assertJson(response, 401, { ...v2, error: UNAUTHENTICATED, data: {} });
    }
    for (const path of ['/nowhere', '/', '/api/v3/configure/token', '/debug/pprof/heap']) {
      assertUnauthenticated(await send(path));
      assertUnauthenticated(await send(path, undefined, { method: 'DELETE' }));
    }
    assertError(await send('/api/v3/nowhere', `Bearer ${token}`), 404, 'Not found');
  });

  it('A-01 without a token leaves no trace', async () => {
    await send('/api/v3/write_lp?db=ghost', undefined, { body: 'm v=1 1' });
    assertError(
      await send('/api/v3/query_sql?db=ghost&q=SELECT%201', `Bearer ${token}`),
      404,
      'query error: database not found: ghost',
    );
  });

  it('A-01 that asks what it may do across origins needs no token', async () => {
    assertEmpty(await send('/api/v3/query_sql', undefined, { method: 'OPTIONS' }));
  });

  it('A-02 may bring its token with Token or as the password of Basic', async () => {
    const headers = [
      `Token ${token}`,
      basic(`user:${token}`),
      basic(`:${token}`),
      basic(`a:b:${token}`),
    ];
    for (const header of headers) {
      for (const [path, status, options] of ENDPOINTS) {
        assert.equal((await send(path, header, options)).status, status, `${path} ${header}`);
      }
    }
  });

  it('A-02 may bring its token as p on the paths of version 1, before any header', async () => {
    const write = (query: string, header?: string) =>
      send(`/write?db=auth&${query}`, header, { body: 'm v=1 1' });
    assertEmpty(await write(`p=${token}`));
    assertEmpty(await write(`u=someone&p=${token}`));
    assertEmpty(await write(`p=${token}`, 'Bearer wrong'));
    assertEmpty(await write(`p=${token}`, 'malformed'));
    assertUnauthenticated(await write('u=someone&p=wrong', `Bearer ${token}`));
    assertUnauthenticated(await write('p=', `Bearer ${token}`));
    assertUnauthenticated(await send(`/api/v3/query_sql?db=_internal&q=SELECT%201&p=${token}`));
    assertUnauthenticated(await send(`/health?p=${token}`));
    assert.notEqual((await send(`/query?p=${token}`)).status, 401);
    assertUnauthenticated(await send('/query?p=wrong', `Bearer ${token}`));
  });

  it('A-03 with an unknown token is not authenticated', async () => {
    const wrong = `apiv3_${'A'.repeat(86)}`;
    const tokens = [wrong, 'x', token.slice(0, -1), `${token}x`, token.toUpperCase(), 'apiv3_'];
    for (const text of tokens) {
      for (const header of [`Bearer ${text}`, `Token ${text}`, basic(`u:${text}`)]) {
        assertUnauthenticated(await send('/health', header));
      }
    }
    assertUnauthenticated(await send('/health', basic('user:')));
  });

  it('A-03 with a malformed header is refused as such', async () => {
    const headers = [
      token,
      'Bearer',
      'Token',
      'Basic',
      `bearer ${token}`,
      `BEARER ${token}`,
      `token ${token}`,
      `Digest ${token}`,
      `Bearer ${token} x`,
      `Bearer  ${token}`,
      'Basic !!!',
      basic('no colon'),
    ];
    for (const header of headers) {
      assertError(await send('/health', header), 400, MALFORMED);
      assertError(await send('/nowhere', header), 400, MALFORMED);
    }
    const v2 = await send('/api/v2/write?bucket=auth', 'Bearer', { body: 'm v=1' });
    // Clients prefix the message with a code, and expect exactly this text.
    assertJson(v2, 400, { message: MALFORMED, error: MALFORMED, data: {} });
  });

  it('A-03 leaves no token in the log', async () => {
    await send(`/write?db=auth&p=${token}`, `Bearer ${token}`, { body: 'm v=1 1' });
    await send('/health', basic(`u:${token}`));
    assert.match(server.logText, /"url":"\/health"/);
    assert.equal(server.logText.includes(token.slice(6)), false);
  });
});

describe('the first token', () => {
  it('A-04 is made without a token, and only once', async () => {
    assertError(
      await send(ADMIN, undefined, { method: 'POST' }),
      409,
      'token name already exists, _admin',
    );
    assertError(
      await send(ADMIN, `Bearer ${token}`, { method: 'POST' }),
      409,
      'token name already exists, _admin',
    );
    assert.equal((await send('/health', `Bearer ${token}`)).status, 200);
  });

  it('A-04 is still the only one after a restart', async () => {
    const { dataDir } = server;
    await server.stop();
    server = await ServerInProcess.start({ dataDir, flags: [] });
    assertError(
      await send(ADMIN, undefined, { method: 'POST' }),
      409,
      'token name already exists, _admin',
    );
    assert.equal((await send('/health', `Bearer ${token}`)).status, 200);
  });
});

describe('a server without authentication', () => {
  it('A-05 answers everything, and any credential, but has no tokens', async () => {
    await using open = await ServerInProcess.start({ flags: ['--without-auth'] });
    for (const [path, status, options] of ENDPOINTS) {
      assert.equal((await open.http.send(path, options)).status, status, path);
    }
    for (const authorization of ['Bearer x', 'malformed', basic('a:b')]) {
      const response = await open.http.send('/health', { headers: { authorization } });
      assert.equal(response.status, 200);
    }
    const disabled = 'endpoint disabled, started without auth';
    const paths = [ADMIN, `${ADMIN}/regenerate`, '/api/v3/configure/token/named_admin'];
    for (const path of paths) {
      assertError(await open.http.send(path, { method: 'POST' }), 405, disabled);
    }
    const remove = '/api/v3/configure/token?token_name=_admin';
    assertError(await open.http.send(remove, { method: 'DELETE' }), 405, disabled);
    assertError(await open.http.send('/api/v3/configure/token/any'), 405, disabled);
  });
});

describe('endpoints that need no token', () => {
  const start = (list: string) => ServerInProcess.start({ flags: ['--disable-authz', list] });

  it('A-05 are those of the list and no other', async () => {
    await using partly = await start('health,ping');
    assert.equal((await partly.http.send('/health')).text, 'OK');
    assert.equal((await partly.http.send('/api/v1/health')).text, 'OK');
    assert.equal((await partly.http.send('/ping')).status, 200);
    assert.equal((await partly.http.send('/pin%67')).status, 200, 'the same path');
    assert.equal(
      (await partly.http.send('/health', { headers: { authorization: 'x' } })).status,
      200,
    );
    for (const path of ['/metrics', '/ready', '/debug/pprof/heap', '/health/x', '/nowhere']) {
      assertUnauthenticated(await partly.http.send(path));
    }
    assertUnauthenticated(await partly.http.send('/write?db=a', { body: 'm v=1' }));
  });

  it('A-05 can be all that watch the server', async () => {
    await using watched = await start('metrics,ready,pprof');
    assert.equal((await watched.http.send('/metrics')).status, 200);
    assert.equal((await watched.http.send('/ready')).status, 200);
    assertError(await watched.http.send('/debug/pprof/heap'), 404, 'Not found');
    assertUnauthenticated(await watched.http.send('/health'));
  });

  it('A-05 cannot be others: the server does not start', async () => {
    await assert.rejects(start('health,write'), StartFailed);
  });
});
