// Source: webhooks, sections 5.4, 6.6 and 9.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  freePorts,
  ServerInProcess,
  temporaryFolder,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

let server: ServerInProcess;
let folder: string;
const open: (Server | WebhookReceiver)[] = [];
before(async () => {
  folder = await temporaryFolder();
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
      ...['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')],
    ],
    { stdio: 'ignore' },
  );
  server = await start([]);
});
after(async () => {
  for (const one of open) await one.close();
  await server.close();
});

const start = async (flags: readonly string[], timeout = '1s') =>
  await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8,::1/128',
      `--webhooks-timeout-ms=${timeout}`,
      ...flags.filter((flag) => flag !== ''),
    ],
  });

/** A TCP server whose behavior the test defines for each connection. */
async function raw(onConnection: (socket: Socket) => void): Promise<string> {
  const listener = createServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  open.push(listener);
  listener.unref();
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
}

const afterRequest = (socket: Socket, act: () => void): void => void socket.once('data', act);

async function outcomeOf(
  url: string,
  webhook: object = {},
  at: ServerInProcess = server,
): Promise<{ status: string; status_code: number; duration: number; response: unknown }> {
  const app = await WebhookApp.register(at, { url, events: ['*'], ...webhook });
  await app.publish('probe');
  const [record] = await app.untilRecorded('?event=probe', 1);
  const answer = await app.call(`/api/v3/app/hook/deliveries/${record?.id}`);
  const { status, status_code, duration, response } = JSON.parse(answer.text) as Awaited<
    ReturnType<typeof outcomeOf>
  >;
  return { status, status_code, duration, response };
}

async function check(
  url: string,
  status: string,
  code: number,
  webhook: object = {},
): Promise<void> {
  const outcome = await outcomeOf(url, webhook);
  assert.deepEqual([outcome.status, outcome.status_code], [status, code], url);
}

describe('the record of an attempt', () => {
  it('says OK for every 2xx and names every other status', async () => {
    const receiver = await WebhookReceiver.start();
    open.push(receiver);
    for (const code of [200, 201, 204, 299]) {
      receiver.answer = (_, response) => response.writeHead(code).end();
      await check(receiver.url, 'OK', code);
    }
    for (const code of [301, 302, 304, 400, 404, 500, 503]) {
      receiver.answer = (_, response) =>
        response.writeHead(code, { location: `http://127.0.0.1:${receiver.port}/moved` }).end();
      await check(receiver.url, `Invalid HTTP Response: ${code}`, code);
    }
    assert.equal(
      receiver.deliveries.some(({ path }) => path === '/moved'),
      false,
      'redirects are not followed',
    );
  });

  it('says that the time was over, whatever the receiver did with it', async () => {
    const silent = await raw(() => {});
    const outcome = await outcomeOf(silent);
    assert.deepEqual(
      [outcome.status, outcome.status_code, outcome.response],
      ['timed out', 504, { headers: null, payload: null }],
    );
    assert.ok(outcome.duration >= 1 && outcome.duration < 3, String(outcome.duration));
    const trickling = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('X-A: b\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    await check(trickling, 'timed out', 504);
    // The status has been received, so an endless body is truncated.
    const slowBody = await raw((socket) =>
      afterRequest(socket, () => {
        socket.write('HTTP/1.1 202 Accepted\r\nContent-Length: 1000\r\n\r\npart');
      }),
    );
    const cut = await outcomeOf(slowBody);
    assert.deepEqual(
      [cut.status, cut.status_code, (cut.response as { payload: string }).payload],
      ['OK', 202, 'part'],
    );
  });

  it('tells what kind of connection failed', async () => {
    const gone = await raw(() => {});
    await open.pop()?.close();
    await check(gone, 'failed to connect to network', 502);
    const reset = await raw((socket) => afterRequest(socket, () => socket.resetAndDestroy()));
    await check(reset, 'failed to connect to network', 502);
    const closed = await raw((socket) => afterRequest(socket, () => socket.end()));
    await check(closed, 'failed to connect to network', 502);
    await check('http://no-such-host.invalid/', 'failed to connect to host', 502);
    const garbage = await raw((socket) => afterRequest(socket, () => socket.end('SSH-2.0-x\r\n')));
    await check(garbage, 'Invalid HTTP Response: 0', 502);
    const noStatus = await raw((socket) =>
      afterRequest(socket, () => socket.end('HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n')),
    );
    await check(noStatus, 'Invalid HTTP Response: 0', 502);
    const twoLengths = await raw((socket) =>
      afterRequest(socket, () =>
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        ),
      ),
    );
    await check(twoLengths, 'Invalid HTTP Response: 0', 502);
    // Bytes before the response are not a response.
    const early = await raw((socket) =>
      afterRequest(socket, () =>
        socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
      ),
    );
    await check(early, 'OK', 204);
    const informational = await raw((socket) =>
      afterRequest(socket, () => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n')),
    );
    await check(informational, 'Invalid HTTP Response: 103', 103);
  });

  it('tells a certificate that cannot be trusted from TLS that fails', async () => {
    const [key, cert] = await Promise.all(
      ['key.pem', 'cert.pem'].map((name) => readFile(join(folder, name))),
    );
    const secure = createHttpsServer({ key, cert }, (request, response) => {
      request.resume();
      request.on('end', () => response.end('safe'));
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    open.push(secure);
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/`;
    const untrusted = 'Peer certificate cannot be authenticated with given CA certificates';
    await check(url, untrusted, 502);
    await check(url, 'OK', 200, { insecure_ssl: '1' });
    await check(url, untrusted, 502, { insecure_ssl: '0' });
    const plain = await raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await check(plain.replace('http:', 'https:'), 'SSL connect error', 502);
    // A long timeout: the first connection of a fresh process loads every certificate authority, which is slow.
    const patient = '10s';
    const authority = `--webhooks-extra-ca-file=${join(folder, 'cert.pem')}`;
    await using trusting = await start([authority], patient);
    assert.equal((await outcomeOf(url, {}, trusting)).status, 'OK');
    secure.closeAllConnections();
  });
});

describe('the guard against private addresses', () => {
  it('looks at what a name leads to, at the moment of the connection', async () => {
    await using guarded = await ServerInProcess.start({
      flags: ['--without-auth', '--services=webhooks', '--webhooks-allow-private-targets=::2/128'],
    });
    const receiver = await WebhookReceiver.start();
    open.push(receiver);
    // Any name that resolves to this machine and is not refused by its form.
    const name = execFileSync('hostname').toString().trim();
    const url = `http://${name}:${receiver.port}/`;
    const outcome = await outcomeOf(url, {}, guarded);
    assert.deepEqual([outcome.status, outcome.status_code], ['failed to connect to host', 502]);
    assert.equal(receiver.deliveries.length, 0);
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '017700000001',
      'localhost',
      'a.localhost',
      '[::ffff:127.0.0.1]',
      '[::127.0.0.1]',
      '[::ffff:0:127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
    ]) {
      const refused = await guarded.http.send('/ops/v1/apps', {
        body: JSON.stringify({ name: host, webhook: { url: `http://${host}:${receiver.port}/` } }),
      });
      assert.equal(refused.status, 422, host);
    }
  });

  it('lets through what the operator allows, by range or by name', async () => {
    const receiver = await WebhookReceiver.start();
    open.push(receiver);
    await using byName = await ServerInProcess.start({
      flags: [
        '--without-auth',
        '--services=webhooks',
        '--webhooks-allow-private-targets=localhost',
      ],
    });
    const url = `http://localhost:${receiver.port}/`;
    assert.equal((await outcomeOf(url, {}, byName)).status, 'OK');
    const refused = await byName.http.send('/ops/v1/apps', {
      body: JSON.stringify({ name: 'n', webhook: { url: receiver.url } }),
    });
    assert.equal(refused.status, 422);
  });
});

describe('the ports of the server itself', () => {
  it('get no delivery by a range or a name that is allowed: one of them hands out admin tokens', async () => {
    const [port = 0, recovery = 0] = await freePorts(2);
    await using guarded = await ServerInProcess.start({
      flags: [
        ...[`--http-bind=127.0.0.1:${port}`, '--services=webhooks'],
        `--admin-token-recovery-http-bind=127.0.0.1:${recovery}`,
        '--webhooks-allow-private-targets=127.0.0.0/8,localhost',
      ],
    });
    const made = await guarded.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const headers = { authorization: `Bearer ${JSON.parse(made.text).token}` };
    const path = '/api/v3/configure/token/admin/regenerate';
    const register = (host: string, at: number) =>
      guarded.http.send('/ops/v1/apps', {
        headers,
        body: JSON.stringify({
          name: `${host} ${at}`,
          webhook: { url: `http://${host}:${at}${path}` },
        }),
      });
    for (const host of ['127.0.0.1', '127.9.9.9', '[::ffff:127.0.0.1]'])
      for (const at of [port, recovery])
        assert.equal((await register(host, at)).status, 422, `${host} ${at}`);
    // The host name is resolved at the time of the call.
    const { id } = JSON.parse((await register('localhost', recovery)).text) as { id: number };
    const pinged = `/ops/v1/apps/${id}/deliveries`;
    for (;;) {
      const { text } = await guarded.http.send(pinged, { headers });
      const [record] = JSON.parse(text) as { status: string }[];
      if (record === undefined) continue;
      assert.equal(record.status, 'failed to connect to host');
      break;
    }
    assert.equal((await guarded.http.send('/ops/v1/apps', { headers })).status, 200);
  });
});

describe('a kept connection', () => {
  it('that the receiver has closed in the meantime is no failure', async () => {
    let connectionCount = 0;
    const url = await raw((socket) => {
      connectionCount += 1;
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        // Half a second later the next request uses a closed connection.
        socket.removeAllListeners('data');
        socket.on('data', () => socket.resetAndDestroy());
      });
    });
    const app = await WebhookApp.register(server, { url, events: ['*'] });
    await app.untilRecorded('?event=ping', 1);
    await app.publish('second');
    const [record] = await app.untilRecorded('?event=second', 1);
    assert.equal(record?.status, 'OK');
    assert.equal(connectionCount, 2);
  });
});
