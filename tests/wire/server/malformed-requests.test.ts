// Source: tsdb-http, "Transport and common behaviour", "Authentication and authorisation".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, assertError, RawConnection, ServerProcess } from '../../harness/index.js';

let open: ServerProcess;
let closed: ServerProcess;
before(async () => {
  [open, closed] = await Promise.all([
    ServerProcess.start(),
    ServerProcess.start({ flags: ['--disable-authz', 'health,ping'] }),
  ]);
});
after(async () => {
  await Promise.all([open.close(), closed.close()]);
});

const NOT_FOUND = 'Not found';
const NOT_AUTHENTICATED = 'the request was not authenticated';

describe('a path that does not exist', () => {
  const post = (server: ServerProcess, path: string, body: string) =>
    server.http.send(path, { body, headers: { 'content-type': 'application/json' } });

  it('is 404 whatever the body is', async () => {
    for (const body of ['', '{', 'null', 'x'.repeat(2_000_000)]) {
      assertError(await post(open, '/api/v3/nothing', body), 404, NOT_FOUND);
      assertError(await post(open, '/health', body), 404, NOT_FOUND);
    }
  });

  it('is 401 without a token, whatever the body is', async () => {
    assertError(await post(closed, '/api/v3/nothing', '{'), 401, NOT_AUTHENTICATED);
  });

  it('is no other thing when it cannot be decoded', async () => {
    for (const path of ['/%zz', '/api/v3/%', '/%ff%fe']) {
      assertError(await open.http.send(path), 404, NOT_FOUND);
      assertError(await closed.http.send(path), 401, NOT_AUTHENTICATED);
      assertEmpty(await closed.http.send(path, { method: 'OPTIONS' }));
    }
  });
});

describe('what is no HTTP', () => {
  it('is answered with the headers of every answer', async () => {
    const uuid = String((await closed.http.send('/health')).headers['cluster-uuid']);
    const requests: readonly (readonly [string, number])[] = [
      ['GET\r\n\r\n', 400],
      ['POST /ping HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
      [`GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
    ];
    for (const [text, status] of requests) {
      using connection = await RawConnection.open(closed.url);
      connection.send(text);
      const answer = await connection.untilEnd();
      assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer);
      assert.ok(answer.includes(`\r\ncluster-uuid: ${uuid}\r\n`), answer);
      assert.ok(answer.includes('\r\naccess-control-allow-origin: *\r\n'), answer);
    }
  });
});

/** Source: RFC 9112, section 3.2. */
describe('a request with two Host headers', () => {
  it('is 400 on every path, and not carried out', async () => {
    const bodyless = ['GET /health', 'GET /api/levels/1', 'GET /api/items', 'GET /nothing'];
    for (const line of [...bodyless, 'POST /api/v3/write_lp?db=hosts', 'GET /%zz']) {
      using connection = await RawConnection.open(open.url);
      const rest = line.startsWith('POST') ? 'Content-Length: 5\r\n\r\nm v=1' : '\r\n';
      connection.send(`${line} HTTP/1.1\r\nHost: localhost\r\nhOst: y\r\n${rest}`);
      const answer = await connection.untilEnd();
      assert.ok(answer.startsWith('HTTP/1.1 400 '), `${line}: ${answer}`);
      assert.ok(answer.includes('{"error":"the request has more than one Host header"'), answer);
    }
    const { text } = await open.http.send('/api/v3/configure/database?format=json');
    assert.ok(!text.includes('hosts'), text);
  });
});

/** Source: RFC 9112, section 9.6: a server reads nothing behind a request that closes its connection. */
describe('what follows a request that closes its connection', () => {
  const closing = (line: string, body = ''): string =>
    `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const requests: readonly (readonly [string, number])[] = [
    [closing('GET /health'), 200],
    [closing('GET /api/levels/1'), 200],
    [closing('POST /api/v3/write_lp?db=closing', 'm v=1'), 204],
  ];

  it('is not answered, and changes nothing of its answer', async () => {
    for (const more of ['{bad', 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n']) {
      for (const [request, status] of requests) {
        using connection = await RawConnection.open(open.url);
        connection.send(request + more);
        const answer = await connection.untilEnd();
        assert.deepEqual(answer.match(/^HTTP\/1\.1 \d+/gm), [`HTTP/1.1 ${status}`], answer);
      }
    }
  });
});
