// Source: tsdb-http, "Transport and common behavior", "Authentication and authorization".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, assertError, RawConnection, ServerInProcess } from '../../harness/index.js';

let open: ServerInProcess;
let closed: ServerInProcess;
before(async () => {
  [open, closed] = await Promise.all([
    ServerInProcess.start(),
    ServerInProcess.start({ flags: ['--disable-authz', 'health,ping'] }),
  ]);
});
after(async () => {
  await Promise.all([open.close(), closed.close()]);
});

const NOT_FOUND = 'Not found';
const NOT_AUTHENTICATED = 'the request was not authenticated';

describe('a path that does not exist', () => {
  const post = (server: ServerInProcess, path: string, body: string) =>
    server.http.send(path, { body, headers: { 'content-type': 'application/json' } });

  it('is 404 for any body', async () => {
    for (const body of ['', '{', 'null', 'x'.repeat(2_000_000)]) {
      assertError(await post(open, '/api/v3/nothing', body), 404, NOT_FOUND);
      assertError(await post(open, '/health', body), 404, NOT_FOUND);
    }
  });

  it('is 401 without a token, for any body', async () => {
    assertError(await post(closed, '/api/v3/nothing', '{'), 401, NOT_AUTHENTICATED);
  });

  it('returns the same if the path cannot be decoded', async () => {
    for (const path of ['/api/v3/%zz', '/api/v3/%', '/api/v3/%ff%fe']) {
      assertError(await open.http.send(path), 404, NOT_FOUND);
      assertError(await closed.http.send(path), 401, NOT_AUTHENTICATED);
      assertEmpty(await closed.http.send(path, { method: 'OPTIONS' }));
    }
  });
});

describe('non-HTTP data', () => {
  it('gets a response with the common headers', async () => {
    const uuid = String((await closed.http.send('/health')).headers['cluster-uuid']);
    const expecting =
      'POST /ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: foo\r\n\r\n';
    const requests: readonly (readonly [string, number])[] = [
      ['GET\r\n\r\n', 400],
      ['GET /health HTTP/1.1\r\n\r\n', 400],
      ['GET /%zz HTTP/1.1\r\nAccept: */*\r\n\r\n', 400],
      [expecting, 417],
      ['CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n', 501],
      ['POST /ping HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n', 400],
      [
        'POST /ping HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
        501,
      ],
      ['POST /ping HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
      [`GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
    ];
    for (const [text, status] of requests) {
      using connection = await RawConnection.open(closed.url);
      connection.send(text);
      const response = await connection.untilEnd();
      assert.ok(response.startsWith(`HTTP/1.1 ${status} `), response);
      assert.ok(response.includes(`\r\ncluster-uuid: ${uuid}\r\n`), response);
      assert.ok(response.includes('\r\naccess-control-allow-origin: *\r\n'), response);
      assert.match(response, /\r\n\r\n\{"error":"[^"]+","data":\{\}\}$/);
    }
  });
});

it('CONNECT after an unanswered request closes the connection without a response', async () => {
  using connection = await RawConnection.open(open.url);
  const first = 'POST /api/v3/write_lp?db=first HTTP/1.1\r\nHost: localhost\r\n';
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n5\r\nm v=1\r\n0\r\n\r\n';
  connection.send(`${first}${chunked}CONNECT localhost:80 HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.doesNotMatch(await connection.untilEnd(), / 501 /);
});

/** Source: RFC 9112, section 3.2. */
describe('a request with two Host headers', () => {
  it('is 400 on every path, and is not executed', async () => {
    const bodyless = ['GET /health', 'GET /api/levels/1', 'GET /api/items', 'GET /nothing'];
    for (const line of [...bodyless, 'POST /api/v3/write_lp?db=hosts', 'GET /%zz']) {
      using connection = await RawConnection.open(open.url);
      const rest = line.startsWith('POST') ? 'Content-Length: 5\r\n\r\nm v=1' : '\r\n';
      connection.send(`${line} HTTP/1.1\r\nHost: localhost\r\nhOst: y\r\n${rest}`);
      const response = await connection.untilEnd();
      assert.ok(response.startsWith('HTTP/1.1 400 '), `${line}: ${response}`);
      assert.ok(
        response.includes('{"error":"the request has more than one Host header"'),
        response,
      );
    }
    const { text } = await open.http.send('/api/v3/configure/database?format=json');
    assert.ok(!text.includes('hosts'), text);
  });
});

/** Source: RFC 9110, section 5.3: the header may occur only once. */
describe('a request with two Authorization headers', () => {
  const paths = [
    '/health',
    '/api/v3/configure/database?format=json',
    '/v2/core/accounts',
    '/api/v3/app/hook/config',
    '/rate_limit',
    '/ops/v1/routes',
    '/api/items',
    '/%zz',
    '/nothing',
  ];
  const refusal = '{"error":"the request has more than one Authorization header","data":{}}';

  it('is 400 over HTTP/1.1 on every path', async () => {
    for (const path of paths) {
      using connection = await RawConnection.open(open.url);
      connection.send(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n`,
      );
      const response = await connection.untilEnd();
      assert.ok(response.startsWith('HTTP/1.1 400 '), `${path}: ${response}`);
      assert.ok(response.endsWith(refusal), response);
    }
  });

  it('is 400 over HTTP/2 on every path', async () => {
    for (const path of paths) {
      using connection = await RawConnection.open(open.url);
      const credentials = ['Bearer a', 'Bearer b'].map((text): Field => ['authorization', text]);
      connection.send(http2Request(path, credentials));
      assert.ok((await connection.until(/"data":\{\}\}/)).includes(refusal), path);
    }
    using connection = await RawConnection.open(open.url);
    connection.send(http2Request('/health', [['authorization', 'Bearer a']]));
    assert.match(await connection.until(/OK/), /OK/);
  });

  it('is refused over HTTP/2 like an unknown expectation', async () => {
    using connection = await RawConnection.open(open.url);
    connection.send(http2Request('/health', [['expect', 'foo']]));
    assert.match(await connection.until(/"data":\{\}\}/), /unsupported expectation/);
  });
});

type Field = readonly [name: string, value: string];

/** Node's client refuses to send duplicate single-value headers. Source: RFC 9113, sections 3.4 and 6.2; RFC 7541, section 6.2.2. */
function http2Request(path: string, more: readonly Field[]): string {
  const text = (value: string): Buffer =>
    Buffer.from(`${String.fromCharCode(value.length)}${value}`);
  const fields: readonly Field[] = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':authority', 'localhost'],
    [':path', path],
    ...more,
  ];
  const block = Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]),
  );
  const END_OF_BOTH = 0x5; // END_STREAM and END_HEADERS.
  const head = Buffer.of(0, block.length >> 8, block.length & 0xff, 1, END_OF_BOTH, 0, 0, 0, 1);
  const settings = Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0);
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  return Buffer.concat([preface, settings, head, block]).toString('latin1');
}

/** Source: RFC 9112, section 9.6: data after a request that closes its connection is ignored. */
describe('data after a request that closes its connection', () => {
  const closing = (line: string, body = ''): string =>
    `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const requests: readonly (readonly [string, number])[] = [
    [closing('GET /health'), 200],
    [closing('GET /api/levels'), 200],
    [closing('POST /api/v3/write_lp?db=closing', 'm v=1'), 204],
  ];

  it('gets no response, and does not change the previous one', async () => {
    for (const more of ['{bad', 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n']) {
      for (const [request, status] of requests) {
        using connection = await RawConnection.open(open.url);
        connection.send(request + more);
        const response = await connection.untilEnd();
        assert.deepEqual(response.match(/^HTTP\/1\.1 \d+/gm), [`HTTP/1.1 ${status}`], response);
      }
    }
  });
});
