// Source: tsdb-http, "Transport and common behavior".
// TLS on the same port is tested in tls.test.ts, and gRPC with its clients.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runCli } from '../../harness/cli.js';
import {
  assertEmpty,
  assertError,
  Http2Client,
  RawConnection,
  rows,
  ServerInProcess,
} from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
});
after(async () => await server.close());

const requestText = (lines: readonly string[], body = '') =>
  `${[...lines, `Host: ${new URL(server.url).host}`].join('\r\n')}\r\n\r\n${body}`;
/** Status lines of all responses on a connection, in order. */
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);

describe('HTTP/1.1', () => {
  it('T-01 answers several requests over one connection', async () => {
    using connection = await RawConnection.open(server.url);
    connection.send(requestText(['GET /health HTTP/1.1']));
    const first = await connection.until(/\r\n\r\nOK$/);
    assert.doesNotMatch(first, /connection: close/i);
    connection.send(requestText(['GET /health HTTP/1.1', 'Connection: close']));
    const both = await connection.untilEnd();
    assert.deepEqual(statusesOf(both), ['200', '200']);
    assert.match(both, /connection: close/i);
  });

  it('T-01 answers pipelined requests in order', async () => {
    using connection = await RawConnection.open(server.url);
    const body = 'm v=1 1';
    const write = requestText(
      ['POST /api/v3/write_lp?db=pipe HTTP/1.1', `Content-Length: ${body.length}`],
      body,
    );
    const select = requestText(['GET /api/v3/query_sql?db=nodb&q=SELECT%201 HTTP/1.1']);
    const health = requestText(['GET /health HTTP/1.1', 'Connection: close']);
    connection.send(write + select + write + health);
    const text = await connection.untilEnd();
    assert.deepEqual(statusesOf(text), ['204', '404', '204', '200']);
    assert.ok(text.endsWith('\r\n\r\nOK'));
  });

  it('closes the connection after an upgrade request, so that later data is not misread', async () => {
    using connection = await RawConnection.open(server.url);
    const body = requestText(['GET /health HTTP/1.1']);
    const upgrade = requestText(['GET /ping HTTP/1.1', 'Connection: Upgrade', 'Upgrade: foo']);
    const post = ['POST /api/v3/write_lp?db=up HTTP/1.1', `Content-Length: ${body.length}`];
    connection.send(upgrade + requestText(post));
    connection.send(body);
    const text = await connection.untilEnd();
    assert.deepEqual(statusesOf(text), ['200']);
    assert.match(text, /connection: close/i);
  });

  // Source: RFC 9112, section 9.3.2: only safe requests may be handled concurrently.
  it('T-01 starts a pipelined request after the previous response', async () => {
    using connection = await RawConnection.open(server.url);
    const write = (value: number): string => {
      const body = `m,series=${value % 7} v=${value}i 1`;
      const path = 'POST /api/v3/write_lp?db=ahead&precision=ns&no_sync=true HTTP/1.1';
      return requestText([path, `Content-Length: ${body.length}`], body);
    };
    const writes = Array.from({ length: 140 }, (_, index) => write(index)).join('');
    const path = '/api/v3/query_sql?db=ahead&format=csv&q=SELECT%20sum(v)%20AS%20v%20FROM%20m';
    connection.send(writes + requestText([`GET ${path} HTTP/1.1`, 'Connection: close']));
    const text = await connection.untilEnd();
    assert.deepEqual(statusesOf(text), [...Array.from({ length: 140 }, () => '204'), '200']);
    // The last seven writes are the newest of their series: 133 + ... + 139.
    assert.ok(text.endsWith('v\n952\n'), text.slice(-200));
  });

  it('T-01 accepts chunked bodies and bodies announced with Expect', async () => {
    using connection = await RawConnection.open(server.url);
    const path = 'POST /api/v3/write_lp?db=body&precision=ns HTTP/1.1';
    connection.send(
      requestText([path, 'Transfer-Encoding: chunked'], '3\r\nm v\r\n4\r\n=1 1\r\n0\r\n\r\n'),
    );
    await connection.until(/HTTP\/1\.1 204/);
    connection.send(requestText([path, 'Expect: 100-continue', 'Content-Length: 7']));
    await connection.until(/HTTP\/1\.1 100/);
    connection.send('m v=2 2');
    await connection.until(/HTTP\/1\.1 100[\s\S]*HTTP\/1\.1 204/);
    assert.deepEqual(await rows(server, 'body', 'SELECT v FROM m ORDER BY v'), [
      { v: 1 },
      { v: 2 },
    ]);
  });

  it('T-01 stays on HTTP/1.1 when the client offers an upgrade to HTTP/2', async () => {
    const headers = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQAAP__',
    };
    const response = await server.http.send('/health', { headers });
    assert.equal(response.status, 200);
    assert.equal(response.text, 'OK');
  });

  it('T-01 accepts HTTP/1.0 and closes its connection', async () => {
    using connection = await RawConnection.open(server.url);
    connection.send('GET /health HTTP/1.0\r\n\r\n');
    const text = await connection.untilEnd();
    assert.deepEqual(statusesOf(text), ['200']);
    assert.ok(text.endsWith('\r\n\r\nOK'));
  });

  it('T-01 answers non-HTTP data with 400 and continues', async () => {
    for (const text of [
      'nonsense\r\n\r\n',
      'PRI * HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'GET / HTTP/9\r\n\r\n',
    ]) {
      using connection = await RawConnection.open(server.url);
      connection.send(text);
      assert.match(await connection.untilEnd(), /^HTTP\/1\.1 400 /, text);
    }
    assert.equal((await server.http.send('/health')).status, 200);
  });
});

describe('HTTP/2 by prior knowledge', () => {
  it('T-01 works on the same port, with many concurrent requests', async () => {
    await using client = new Http2Client(server.url);
    const writes = Array.from({ length: 50 }, (_, index) =>
      client.send('/api/v3/write_lp?db=h2&precision=ns', { body: `m v=${index}i ${index}` }),
    );
    for (const response of await Promise.all(writes)) assertEmpty(response);
    const q = encodeURIComponent('SELECT count(*) AS n, sum(v) AS v FROM m');
    const response = await client.send(`/api/v3/query_sql?db=h2&format=json_rows&q=${q}`);
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json');
    assert.equal(response.text, '[{"n":50,"v":1225}]');
  });

  it('T-01 accepts large and compressed bodies', async () => {
    await using client = new Http2Client(server.url);
    const lines = Array.from(
      { length: 50_000 },
      (_, index) => `m,t=${index % 100} v=${index} ${index}`,
    );
    const path = '/api/v3/write_lp?db=h2large&precision=ns';
    const body = lines.join('\n');
    assertEmpty(await client.send(path, { body }));
    const headers = { 'content-encoding': 'gzip' };
    assertEmpty(await client.send(path, { body: gzipSync(body), headers }));
    const q = 'SELECT count(*) AS n FROM m';
    assert.deepEqual(await rows(server, 'h2large', q), [{ n: 50_000 }]);
  });

  it('T-01 returns errors as HTTP/1.1 does', async () => {
    await using client = new Http2Client(server.url);
    assertError(await client.send('/api/v3/nowhere'), 404, 'Not found');
    assertError(
      await client.send('/api/v3/query_sql?db=nodb&q=SELECT%201'),
      404,
      'query error: database not found: nodb',
    );
    const health = await client.send('/health');
    assert.equal(health.text, 'OK');
    assert.equal(
      health.headers['cluster-uuid'],
      (await server.http.send('/health')).headers['cluster-uuid'],
    );
    const preflight = await client.send('/write', { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
  });
});

describe('the port', () => {
  it('T-01 is 8181 on loopback by default', async () => {
    const { stdout } = await runCli(['serve', '--help']);
    assert.match(stdout, /--http-bind .*\(default: 127\.0\.0\.1:8181\)/);
    const checked = await runCli(['serve', '--check']);
    assert.match(checked.stdout, /^server\.http_bind = "127\.0\.0\.1:8181" {2}# default$/m);
  });

  it('on loopback is not reachable at other addresses, and the log contains the bound address', async () => {
    const other = (address: string) => fetch(`${server.url.replace('127.0.0.1', address)}/health`);
    await assert.rejects(other('127.0.0.2'));
    const { port } = new URL(server.url);
    assert.equal(server.logged('server listens')?.['bound'], `127.0.0.1:${port}`);
    await using open = await ServerInProcess.start({
      flags: ['--without-auth', '--http-bind', '0.0.0.0:0'],
    });
    const at = new URL(open.url).port;
    assert.equal(open.logged('server listens')?.['bound'], `0.0.0.0:${at}`);
    assert.equal((await fetch(`http://127.0.0.2:${at}/health`)).status, 200);
  });
});

describe('every response', () => {
  const paths = ['/health', '/nowhere', '/write?db=_internal', '/api/v3/query_sql'];
  let closed: ServerInProcess;
  before(async () => {
    closed = await ServerInProcess.start({ flags: [] });
  });
  after(async () => await closed.close());

  it('T-02 has the cluster uuid, unchanged after a restart, and the CORS header', async () => {
    const uuids = new Set<unknown>();
    const collect = async () => {
      for (const path of paths) {
        for (const method of ['GET', 'POST', 'OPTIONS', 'PUT', 'HEAD']) {
          const { headers } = await closed.http.send(path, { method });
          uuids.add(headers['cluster-uuid']);
          assert.equal(headers['access-control-allow-origin'], '*', `${method} ${path}`);
        }
      }
    };
    await collect();
    const { dataDir } = closed;
    await closed.stop();
    closed = await ServerInProcess.start({ dataDir, flags: [] });
    await collect();
    assert.equal(uuids.size, 1);
    assert.match(String([...uuids][0]), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('T-02 to a preflight is 204, allows everything and is cached for a day', async () => {
    for (const path of [...paths, '/any/path']) {
      const response = await closed.http.send(path, {
        method: 'OPTIONS',
        headers: { origin: 'https://example.org', 'access-control-request-method': 'POST' },
      });
      assertEmpty(response);
      assert.equal(response.headers['access-control-allow-origin'], '*');
      assert.equal(response.headers['access-control-allow-methods'], '*');
      assert.equal(response.headers['access-control-allow-headers'], '*');
      assert.equal(response.headers['access-control-max-age'], '86400');
    }
  });

  it('is the same for an absolute-form target, as proxies send it', async () => {
    for (const [target, status] of [
      ['http://other.example/health', 200],
      ['HTTP://other.example:80/health?x=1', 200],
      ['http://other.example/nowhere', 404],
      ['http://other.example', 404],
      ['http://other.example?x=/health', 404],
      ['ftp://other.example/health', 404],
    ] as const) {
      using connection = await RawConnection.open(server.url);
      connection.send(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      const response = await connection.untilEnd();
      assert.ok(response.startsWith(`HTTP/1.1 ${status} `), `${target}: ${response}`);
    }
  });

  it('T-02 to a wrong method or path is 404, never 405', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      for (const path of ['/write?db=a', '/api/v3/query_sql', '/api/v3/nowhere', '/health']) {
        assertError(await server.http.send(path, { method }), 404, 'Not found');
      }
    }
    assertError(await server.http.send('/write?db=a'), 404, 'Not found');
  });
});
