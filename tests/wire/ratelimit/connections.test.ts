// Source: rate-limits, sections 8.1 (token creation), 9 (connections), 13 (PROXY protocol) and 17.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { ServerInProcess, testCertificate, tlsFlags } from '../../harness/index.js';
import { Platform, PROBE, text } from './platform.js';

const FLAGS = ['--without-auth', '--services', 'ratelimit'];
const PROXY = '127.0.0.2';
const REQUEST = `GET ${PROBE} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

/** Returns the server's response to these bytes from that local address; empty when it only closes the connection. */
async function say(server: ServerInProcess, from: string, bytes: readonly (string | Buffer)[]) {
  const { port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  let response = '';
  socket.on('data', (piece) => {
    response += piece.toString('latin1');
  });
  await once(socket, 'connect');
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
  for (const piece of bytes) {
    socket.write(piece);
    // A delay keeps consecutive chunks separate.
    await new Promise((resolve) => setTimeout(resolve, bytes.length > 1 ? 20 : 0));
  }
  await closed;
  return response;
}

const usedOf = (response: string): number | undefined => {
  const found = /x-ratelimit-used: (\d+)/i.exec(response)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** A PROXY protocol header of version 2. */
function version2(source: string, family: 'inet' | 'inet6', command = 1): Buffer {
  const addresses = family === 'inet' ? 4 : 16;
  const body = Buffer.alloc(2 * addresses + 4);
  if (family === 'inet') Buffer.from(source.split('.').map(Number)).copy(body);
  else Buffer.from(source.replaceAll(':', ''), 'hex').copy(body);
  const extra = Buffer.from([0x04, 0, 2, 0, 0]); // an empty NOOP TLV, which must be skipped
  const head = Buffer.from('\r\n\r\n\0\r\nQUIT\n\0\0\0\0', 'latin1');
  head[12] = 0x20 | command;
  head[13] = family === 'inet' ? 0x11 : 0x21;
  head.writeUInt16BE(body.length + extra.length, 14);
  return Buffer.concat([head, body, extra]);
}

describe('the PROXY protocol', () => {
  it('names the client of a trusted proxy, in both versions', async () => {
    await using server = await ServerInProcess.start({
      flags: [...FLAGS, '--server-proxy-protocol', 'true', '--server-trusted-proxies', PROXY],
    });
    const via = (head: string | Buffer, ...rest: (string | Buffer)[]) =>
      say(server, PROXY, [head, ...rest]);
    const line = 'PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n';
    assert.equal(usedOf(await via(line + REQUEST)), 1);
    assert.equal(
      usedOf(await via(Buffer.concat([version2('192.0.2.7', 'inet'), Buffer.from(REQUEST)]))),
      2,
    );
    // Split into chunks, as on slow networks.
    assert.equal(usedOf(await via('PRO', 'XY TCP4 192.0.2.7 1.2.3.4 1 2\r', '\n', REQUEST)), 3);
    const whole = version2('192.0.2.7', 'inet');
    assert.equal(
      usedOf(await via(whole.subarray(0, 5), whole.subarray(5, 20), whole.subarray(20), REQUEST)),
      4,
    );
    // IPv6 counts by network, while the message contains the address.
    const six = '2001:0db8:0001:0002:0000:0000:0000:0009';
    assert.equal(usedOf(await via(version2(six, 'inet6'), REQUEST)), 1);
    assert.equal(usedOf(await via('PROXY TCP6 2001:db8:1:2::77 ::1 1 2\r\n', REQUEST)), 2);
    // A connection of the proxy itself counts as its own client.
    assert.equal(usedOf(await via('PROXY UNKNOWN\r\n', REQUEST)), 1);
    assert.equal(usedOf(await via(version2('9.9.9.9', 'inet', 0), REQUEST)), 2);
    // HTTP/2 with prior knowledge works behind the header.
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings]);
    const { port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: PROXY });
    await once(socket, 'connect');
    socket.write(Buffer.concat([Buffer.from(line), preface]));
    const [first] = (await once(socket, 'data')) as [Buffer];
    assert.equal(first[3], 4, 'a frame of settings');
    socket.destroy();
  });

  it('comes before the handshake under TLS', async () => {
    const certificate = testCertificate('first');
    const flags = ['--server-proxy-protocol', 'true', '--server-trusted-proxies', PROXY];
    await using server = await ServerInProcess.start({
      flags: [...FLAGS, ...flags, ...tlsFlags(certificate)],
    });
    const { port } = new URL(server.url);
    for (const used of [1, 2]) {
      const raw = connect({ port: Number(port), host: '127.0.0.1', localAddress: PROXY });
      await once(raw, 'connect');
      raw.write('PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n');
      const socket = connectTls({ socket: raw, ca: certificate.ca, servername: 'localhost' });
      await once(socket, 'secureConnect');
      let response = '';
      socket.on('data', (piece) => {
        response += piece.toString('latin1');
      });
      socket.write(REQUEST);
      await once(socket, 'close');
      assert.equal(usedOf(response), used, response);
    }
  });

  it('of others is no word to believe, and a proxy that forgets it is cut off', async () => {
    await using server = await ServerInProcess.start({
      flags: [...FLAGS, '--server-proxy-protocol', 'true', '--server-trusted-proxies', PROXY],
    });
    const spoofed = await say(server, '127.0.0.1', [
      `PROXY TCP4 192.0.2.9 1.1.1.1 1 2\r\n${REQUEST}`,
    ]);
    assert.match(spoofed, /^HTTP\/1.1 400 /);
    assert.equal(usedOf(await say(server, '127.0.0.1', [REQUEST])), 1);
    for (const head of [
      '',
      'PROXY TCP4 nonsense 1.1.1.1 1 2\r\n',
      'PROXY TCP4 ::1 ::1 1 2\r\n',
      'PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n',
      'PROXY TCP4 1.2.3.4 1.1.1.1 99999 2\r\n',
      `PROXY ${'x'.repeat(200)}\r\n`,
      Buffer.from('\r\n\r\n\0\r\nQUIT\n\x31\x11\0\x0c\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1'),
      Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x04\0\0\0\0', 'latin1'),
      Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff', 'latin1'),
    ]) {
      assert.equal(
        await say(server, PROXY, [Buffer.concat([Buffer.from(head), Buffer.from(REQUEST)])]),
        '',
        String(head),
      );
    }
    const asked = await server.http.send(PROBE);
    assert.equal(asked.headers['x-ratelimit-used'], '2');
  });

  it('without trusted proxies is rejected at startup', async () => {
    await assert.rejects(
      ServerInProcess.start({ flags: [...FLAGS, '--server-proxy-protocol', 'true'] }),
      /server\.proxy_protocol: .*server\.trusted_proxies/,
    );
  });
});

describe('a flood of connections', () => {
  it('of one address is closed without an answer, that of a service without limits is not', async () => {
    await using server = await ServerInProcess.start({
      flags: [
        '--without-auth',
        '--services',
        'ratelimit,accounts',
        '--rate-limit-ban-ip-connections',
        '5',
        '--rate-limit-resources',
        '{"core":{"anonymous_limit":1000}}',
      ],
    });
    const { port } = new URL(server.url);
    const open: Socket[] = [];
    const ask = async (path: string, from = '127.0.0.1'): Promise<string> => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from });
      socket.on('error', () => {});
      open.push(socket);
      await once(socket, 'connect');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return await new Promise((resolve) => {
        socket.once('data', (piece) => resolve(piece.toString('latin1').slice(0, 12)));
        socket.once('close', () => resolve('closed'));
      });
    };
    const ended = async (socket: Socket | undefined) => {
      socket?.destroy();
      await new Promise((resolve) => setTimeout(resolve, 100));
    };
    for (let index = 0; index < 5; index += 1) assert.equal(await ask(PROBE), 'HTTP/1.1 200');
    assert.equal(await ask(PROBE), 'closed');
    assert.equal(await ask(PROBE, '127.0.0.3'), 'HTTP/1.1 200', 'another address');
    assert.equal(await ask('/v2/core/accounts'), 'HTTP/1.1 401', 'a service without limits');
    await ended(open[0]);
    assert.equal(await ask(PROBE), 'HTTP/1.1 200', 'room again');
    for (const socket of open) socket.destroy();
  });

  it('does not affect authenticated clients', async () => {
    await using platform = await Platform.start(['--rate-limit-ban-ip-connections', '2']);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const { port } = new URL(platform.server.url);
    const sockets = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const socket = connect({ port: Number(port), host: '127.0.0.1' });
        await once(socket, 'connect');
        socket.write(`GET ${PROBE} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\n\r\n`);
        const [response] = (await once(socket, 'data')) as [Buffer];
        assert.match(response.toString('latin1'), /^HTTP\/1.1 200 /);
        return socket;
      }),
    );
    for (const socket of sockets) socket.destroy();
  });
});

describe('token creation', () => {
  it('is limited per app and hour, each app separately', async () => {
    await using platform = await Platform.start(['--rate-limit-secondary-token-hour', '20']);
    const app = async () => text(await platform.register({ kind: 'oauth_app' }), 'id');
    const [one, other] = [await app(), await app()];
    const make = async (via_app: string | undefined, kind = 'oauth') =>
      await platform.ops('POST', 'credentials', { kind, identity: 'user:1', via_app });
    for (let index = 0; index < 20; index += 1) assert.equal((await make(one)).status, 201);
    const refused = await make(one);
    assert.equal(refused.status, 403);
    const body = JSON.parse(refused.text);
    assert.equal(
      body.message,
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    );
    assert.match(body.documentation_url, /secondary-rate-limits$/);
    const waitSec = Number(refused.headers['retry-after']);
    assert.ok(waitSec > 3_400 && waitSec <= 3_600, String(waitSec));
    assert.equal((await make(other)).status, 201);
    assert.equal((await make(undefined, 'personal')).status, 201, 'a token of no app');
    // A rejected token is not created, and an invalid request counts nothing.
    for (let index = 0; index < 25; index += 1) {
      const bad = { kind: 'oauth', identity: 'nobody', via_app: other };
      assert.equal((await platform.ops('POST', 'credentials', bad)).status, 422);
    }
    assert.equal((await make(other)).status, 201);
  });
});

it('the metrics contain the store latency', async () => {
  await using platform = await Platform.start();
  const authorization = { authorization: `Bearer ${platform.admin}` };
  for (let index = 0; index < 70; index += 1) await platform.send('/rate_limit');
  const metrics = (await platform.server.http.send('/metrics', { headers: authorization })).text;
  assert.match(metrics, /^# TYPE ratelimit_store_seconds histogram$/m);
  const count = Number(/^ratelimit_store_seconds_count (\d+)$/m.exec(metrics)?.[1]);
  assert.ok(count >= 1, metrics.slice(0, 200));
  assert.match(metrics, /^ratelimit_store_seconds_bucket\{le="\+Inf"\} \d+$/m);
});
