import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type RunningServer, readSettings, startServer } from './start-server.js';

const start = (flags: readonly (readonly [string, string])[] = []): Promise<RunningServer> => {
  const all = new Map([
    ['http-bind', '127.0.0.1:0'],
    ['object-store', 'memory'],
    ['without-auth', 'true'],
    ...flags,
  ]);
  return startServer({
    settings: readSettings({ env: {}, flags: all }),
    logDestination: { write() {} },
  });
};

/** Writes raw bytes in pieces, and returns all received bytes until the server closes the connection. */
async function raw(server: RunningServer, pieces: readonly string[]): Promise<string> {
  const socket = connect(server.address.port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (part) => received.push(part));
  await once(socket, 'connect');
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await once(socket, 'close');
  return Buffer.concat(received).toString('latin1');
}

describe('startServer', () => {
  let server: RunningServer;
  before(async () => {
    server = await start();
  });
  after(() => server.close());

  it('does not start without TLS if a TLS key is given', async () => {
    await assert.rejects(start([['tls-key', 'key.pem']]), {
      problems: ['--tls-key: also requires --tls-cert'],
    });
    await assert.rejects(start([['tls-cert', 'cert.pem']]), {
      problems: ['--tls-cert: also requires --tls-key'],
    });
  });

  it('does not start with credentials in the traces URL', async () => {
    for (const login of ['me:hunter22', ':hunter22', 'me']) {
      const url = `https://${login}@collector.example/v1/traces`;
      await assert.rejects(start([['server-otlp-traces-url', url]]), {
        problems: [
          'server.otlp_traces_url: user name and password are not supported; omit them, and let a local collector add credentials',
        ],
      });
    }
  });

  it('answers an unknown path or method with 404 and the error shape', async () => {
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['DELETE', '/metrics'],
      ['POST', '/metrics'],
    ] as const) {
      const response = await fetch(`${server.address.url}${path}`, { method });
      assert.equal(response.status, 404);
      assert.equal(response.headers.get('content-type'), 'application/json');
      const { error, data } = (await response.json()) as { error: string; data: object };
      assert.equal(error, 'Not found');
      assert.equal('served' in data, path === '/nowhere');
    }
  });

  it('sends cluster-uuid with every answer, errors and preflights too', async () => {
    const uuids = new Set<string | null>();
    for (const [method, path] of [
      ['GET', '/metrics'],
      ['GET', '/nowhere'],
      ['OPTIONS', '/any/thing'],
      ['GET', '/%zz'],
    ] as const) {
      const response = await fetch(`${server.address.url}${path}`, { method });
      uuids.add(response.headers.get('cluster-uuid'));
      await response.arrayBuffer();
    }
    assert.equal(uuids.size, 1);
    assert.match([...uuids][0] ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  });

  it('answers every preflight with 204', async () => {
    const response = await fetch(`${server.address.url}/api/v3/write_lp`, { method: 'OPTIONS' });
    assert.equal(response.status, 204);
  });

  it('counts requests by route pattern', async () => {
    await (await fetch(`${server.address.url}/some/unknown/path`)).arrayBuffer();
    const text = await (await fetch(`${server.address.url}/metrics`)).text();
    assert.match(
      text,
      /^http_requests_total\{method="any",path="unmatched",status="client_error"\} \d+$/m,
    );
    assert.match(
      text,
      /^http_request_duration_seconds_bucket\{method="GET",path="\/metrics",le="\+Inf"\} \d+$/m,
    );
    assert.doesNotMatch(text, /some\/unknown/);
    assert.ok(text.endsWith('\n# EOF\n'));
  });

  it('is ready when its storage can be reached', async () => {
    const response = await fetch(`${server.address.url}/ready`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(await response.text(), 'OK');
  });

  it('speaks HTTP/2 by prior knowledge on the same port', async () => {
    const client = connectHttp2(server.address.url);
    const stream = client.request({ ':path': '/metrics' });
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    assert.equal(headers[':status'], 200);
    assert.match(String(headers['cluster-uuid']), /^[0-9a-f-]{36}$/);
    stream.resume();
    await once(stream, 'end');
    client.close();
    await once(client, 'close');
  });

  it('distinguishes the protocols when the first bytes arrive one by one', async () => {
    const rest = 'UT /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    assert.match(await raw(server, ['P', rest]), /^HTTP\/1\.1 404 Not Found\r\n/);
    const http2 = await raw(server, [
      'PR',
      'I * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'not a frame, no frame',
    ]);
    // Every HTTP/2 connection starts with a SETTINGS frame (type 4) from the server.
    assert.equal(http2.charCodeAt(3), 4);
  });

  it('serves other connections while one has sent only part of an HTTP/2 preface', async () => {
    const silent = connect(server.address.port, '127.0.0.1');
    await once(silent, 'connect');
    silent.write('PRI * HT');
    const response = await fetch(`${server.address.url}/nowhere`, {
      signal: AbortSignal.timeout(10_000),
    });
    assert.equal(response.status, 404);
    silent.destroy();
  });

  it('serves several requests that arrive in one piece', async () => {
    const one = 'GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const last = 'GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const responses = await raw(server, [one + one + last]);
    assert.equal(responses.split('HTTP/1.1 404').length - 1, 3);
  });

  it('refuses non-HTTP data with the error shape', async () => {
    const response = await raw(server, ['nonsense\r\n\r\n']);
    assert.match(response, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.ok(response.endsWith('{"error":"Bad Request","data":{}}'));
  });
});

describe('RunningServer.close', () => {
  it('closes idle connections, refuses new ones, and can be called twice', async () => {
    const server = await start();
    await (await fetch(`${server.address.url}/metrics`)).arrayBuffer();
    const client = connectHttp2(server.address.url);
    await once(client, 'connect');
    await Promise.all([server.close(), once(client, 'close')]);
    await server.close();
    await assert.rejects(fetch(server.address.url));
  });

  it('does not wait for a connection without a request', async () => {
    const server = await start([['shutdown-timeout', '1h']]);
    const socket = connect(server.address.port, '127.0.0.1');
    await once(socket, 'connect');
    // A response on a later connection shows that the server has accepted the first one.
    await (await fetch(`${server.address.url}/metrics`)).arrayBuffer();
    await Promise.all([server.close(), once(socket, 'close')]);
  });

  it('completes a running request and then closes its connection', async () => {
    const server = await start([['shutdown-timeout', '1h']]);
    const socket = connect(server.address.port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (part) => received.push(part));
    socket.write(
      'POST /api/v3/write_lp?db=d HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
    );
    await once(socket, 'data'); // the server waits for the body
    const closing = server.close();
    socket.write('t v=1 1\n\n');
    await Promise.all([closing, once(socket, 'close')]);
    assert.match(Buffer.concat(received).toString('latin1'), /HTTP\/1\.1 204 No Content/);
  });

  it('aborts an incomplete request at the shutdown timeout', async () => {
    const server = await start([['shutdown-timeout', '50ms']]);
    const socket = connect(server.address.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc');
    await once(socket, 'data');
    await Promise.all([server.close(), once(socket, 'close')]);
  });
});

it('does not start with a port in use, and leaves nothing open', async () => {
  const first = await start();
  await assert.rejects(start([['http-bind', `127.0.0.1:${first.address.port}`]]), {
    code: 'EADDRINUSE',
  });
  await first.close();
});

describe('authentication', () => {
  let server: RunningServer;
  let token: string;
  before(async () => {
    server = await start([
      ['without-auth', 'false'],
      ['disable-authz', 'metrics'],
    ]);
    const created = await fetch(`${server.address.url}/api/v3/configure/token/admin`, {
      method: 'POST',
    });
    assert.equal(created.status, 201);
    token = ((await created.json()) as { token: string }).token;
  });
  after(() => server.close());

  it('authenticates before routing: an unknown path is 401 without a token and 404 with one', async () => {
    const refused = await fetch(`${server.address.url}/nowhere`);
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="plinth"');
    assert.equal(refused.headers.get('content-type'), 'application/json');
    assert.match(refused.headers.get('cluster-uuid') ?? '', /^[0-9a-f-]{36}$/);
    assert.deepEqual(await refused.json(), {
      error: 'the request was not authenticated',
      data: {},
    });
    const headers = { authorization: `Bearer ${token}` };
    const found = await fetch(`${server.address.url}/nowhere`, { headers });
    assert.equal(found.status, 404);
    await found.arrayBuffer();
  });

  it('leaves preflights and the endpoints of disable_authz open', async () => {
    const preflight = await fetch(`${server.address.url}/nowhere`, { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
    const metrics = await fetch(`${server.address.url}/metrics`);
    assert.equal(metrics.status, 200);
    await metrics.arrayBuffer();
  });
});
