// Source: tsdb-http, "Transport and common behavior", under TLS.
// Own process: one gets signals.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import {
  assertEmpty,
  Http2Client,
  HttpClient,
  type OwnServer,
  RawConnection,
  ServerInProcess,
  ServerProcess,
  StartFailed,
  temporaryFolder,
  testCertificate,
  tlsFlags,
} from '../../harness/index.js';

const first = testCertificate('first');
const second = testCertificate('second');

async function openTls(url: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const port = Number(new URL(url).port);
  const socket = connect({ host: '127.0.0.1', port, ca: [first.ca, second.ca], ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** All received data until the server closes the connection. */
async function exchange(socket: TLSSocket, text: string): Promise<string> {
  let received = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    received += piece;
  });
  socket.write(text);
  await once(socket, 'close');
  return received;
}

const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

describe('TLS on the port', () => {
  let server: ServerInProcess;
  before(async () => {
    server = await ServerInProcess.start({ flags: ['--without-auth', ...tlsFlags(first)] });
  });
  after(async () => await server.close());

  it('T-01 serves HTTP/1.1, many requests over one connection', async () => {
    assert.match(server.url, /^https:/);
    const http = new HttpClient(server.url, first.ca);
    for (let count = 0; count < 3; count++) {
      assertEmpty(await http.send('/api/v3/write_lp?db=tls', { body: `m v=${count} ${count}` }));
    }
    const response = await http.send('/health');
    assert.equal(response.text, 'OK');
    http.close();
  });

  it('T-01 serves HTTP/2 negotiated by ALPN', async () => {
    await using client = new Http2Client(server.url, first.ca);
    const response = await client.send('/health');
    assert.equal(response.text, 'OK');
    assert.equal(client.protocol, 'h2');
  });

  it('T-01 negotiates a common protocol', async () => {
    for (const [offered, settled] of [
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1'], 'http/1.1'],
      [['http/1.1', 'h2'], 'h2'],
      [undefined, false],
    ] as const) {
      const socket = await openTls(server.url, offered && { ALPNProtocols: [...offered] });
      assert.equal(socket.alpnProtocol, settled);
      socket.destroy();
    }
    await assert.rejects(openTls(server.url, { ALPNProtocols: ['spdy/3'] }), /alert|ALPN/i);
  });

  it('T-01 serves both versions without ALPN', async () => {
    const socket = await openTls(server.url);
    assert.match(await exchange(socket, HEALTH), /^HTTP\/1\.1 200 OK[\s\S]*OK$/);
    const http2 = await openTls(server.url);
    http2.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
    const [settings] = (await once(http2, 'data')) as [Buffer];
    assert.equal(settings[3], 4); // Type of a SETTINGS frame.
    http2.destroy();
  });

  it('T-01 supports only TLS 1.2 and 1.3', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await openTls(server.url, { minVersion: version, maxVersion: version });
      assert.equal(socket.getProtocol(), version);
      socket.destroy();
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    await assert.rejects(openTls(server.url, old));
  });

  it('T-01 refuses plaintext clients', async () => {
    using http1 = await RawConnection.open(server.url.replace('https', 'http'));
    http1.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const text = await http1.untilEnd();
    assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.ok(text.endsWith('{"error":"this port requires TLS: use https://","data":{}}'));
    using http2 = await RawConnection.open(server.url.replace('https', 'http'));
    http2.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
    assert.equal(await http2.untilEnd(), '');
  });

  it('T-01 survives refused clients that reset their connections', async () => {
    const { port } = new URL(server.url);
    for (const bytes of [
      'GET / HTTP/1.1\r\n\r\n',
      '\x80\x2e\x01\x00\x02',
      '\x15\x03\x01\x00\x02\x01\x00',
    ]) {
      const socket = connectTcp(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(bytes, 'latin1');
      await once(socket, 'data');
      socket.resetAndDestroy();
    }
    const http = new HttpClient(server.url, first.ca);
    assert.equal((await http.send('/health')).text, 'OK');
    http.close();
  });

  it('T-01 survives failed handshakes', async () => {
    const { port } = new URL(server.url);
    const garbage = Array.from({ length: 20 }, async (_, index) => {
      const socket = connectTcp(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      const closed = once(socket, 'close');
      socket.write(
        Buffer.concat([Buffer.from([0x16, 3, 1, 2, 0]), Buffer.alloc(index * 50, index)]),
      );
      if (index % 2 === 0) socket.end();
      else setTimeout(() => socket.destroy(), 20);
      socket.resume();
      await closed;
    });
    await Promise.all(garbage);
    const http = new HttpClient(server.url, first.ca);
    assert.equal((await http.send('/health')).text, 'OK');
    http.close();
  });

  it('T-01 accepts large bodies over both versions', async () => {
    const body = Array.from({ length: 60_000 }, (_, i) => `wide,t=${i % 50} v=${i} ${i}`).join(
      '\n',
    );
    const path = '/api/v3/write_lp?db=tls&precision=ns';
    const http = new HttpClient(server.url, first.ca);
    assertEmpty(await http.send(path, { body }));
    await using client = new Http2Client(server.url, first.ca);
    assertEmpty(await client.send(path, { body: body.replaceAll('wide', 'wider') }));
    const q = encodeURIComponent(
      'SELECT (SELECT count(*) FROM wide) a, (SELECT count(*) FROM wider) b',
    );
    const response = await http.send(`/api/v3/query_sql?db=tls&format=json_rows&q=${q}`);
    assert.equal(response.text, '[{"a":60000,"b":60000}]');
    http.close();
  });
});

describe('certificates', () => {
  let folder: string;
  before(async () => {
    folder = await temporaryFolder();
  });

  const subjectAt = async (server: OwnServer) => {
    const socket = await openTls(server.url);
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };

  it('T-01 are read again on SIGHUP; connections continue, and invalid files change nothing', async () => {
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const install = async ({ keyFile: key, certFile: cert }: typeof first) => {
      await copyFile(key, keyFile);
      await copyFile(cert, certFile);
    };
    await install(first);
    const flags = ['--without-auth', '--tls-key', keyFile, '--tls-cert', certFile];
    await using server = await ServerProcess.start({ flags });
    await using old = new Http2Client(server.url, first.ca);
    assert.equal((await old.send('/health')).text, 'OK');
    assert.equal(await subjectAt(server), 'plinth test first');
    const renew = async (message: string) => {
      server.signal('SIGHUP');
      for (let count = 0; count < 100 && server.logged(message) === undefined; count++)
        await sleep(50);
      assert.ok(server.logged(message), message);
    };
    await writeFile(certFile, 'nonsense');
    await renew('TLS certificate not renewed; the previous one stays in use');
    assert.equal(await subjectAt(server), 'plinth test first');
    await install(second);
    server.signal('SIGHUP');
    const isRenewed = () =>
      server.logged('TLS certificate in use')?.['subject'] === 'CN=plinth test second';
    for (let count = 0; count < 100 && !isRenewed(); count++) await sleep(50);
    assert.equal(await subjectAt(server), 'plinth test second');
    assert.equal((await old.send('/health')).text, 'OK');
    const handled = server.logged('SIGHUP handled; settings are read only at startup');
    assert.deepEqual(handled?.['reloaded'], ['TLS certificate']);
    assert.ok(!server.logText.includes('PRIVATE KEY'));
  });

  it('T-01 that do not match prevent the start with a reason', async () => {
    const missing = join(folder, 'missing.pem');
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['--tls-key', first.keyFile], /--tls-key: also requires --tls-cert/],
      [['--tls-cert', first.certFile], /--tls-cert: also requires --tls-key/],
      [['--tls-key', missing, '--tls-cert', first.certFile], /--tls-key: ENOENT/],
      [
        ['--tls-key', first.keyFile, '--tls-cert', second.certFile],
        /--tls-key: .* cannot be used: .*mismatch/,
      ],
      [['--tls-key', first.keyFile, '--tls-cert', first.keyFile], /--tls-cert: .* cannot be used/],
      [
        [...tlsFlags(first), '--tls-minimum-version', 'tls-1.1'],
        /--tls-minimum-version: expected one of/,
      ],
    ];
    for (const [flags, reason] of cases) {
      await assert.rejects(
        ServerInProcess.start({ flags: ['--without-auth', ...flags] }),
        (error) => {
          assert.ok(error instanceof StartFailed);
          assert.equal(error.code, 2);
          assert.match(error.message, reason);
          return true;
        },
      );
    }
  });

  it('T-01 can be limited to TLS 1.3, and plaintext can be allowed', async () => {
    const flags = ['--without-auth', ...tlsFlags(first)];
    const options = ['--tls-minimum-version', 'tls-1.3', '--tls-plaintext', 'allow'];
    await using server = await ServerInProcess.start({ flags: [...flags, ...options] });
    await assert.rejects(openTls(server.url, { maxVersion: 'TLSv1.2' }));
    const socket = await openTls(server.url);
    assert.equal(socket.getProtocol(), 'TLSv1.3');
    socket.destroy();
    const plainUrl = server.url.replace('https', 'http');
    const http = new HttpClient(plainUrl);
    assert.equal((await http.send('/health')).text, 'OK');
    http.close();
    await using http2 = new Http2Client(plainUrl);
    assert.equal((await http2.send('/health')).text, 'OK');
    await using tls = new Http2Client(server.url, first.ca);
    assert.equal((await tls.send('/health')).text, 'OK');
  });

  it('T-01 do not delay a shutdown', async () => {
    // Far longer than a shutdown takes on a busy machine without waiting for these connections.
    const patience = ['--server-shutdown-timeout-ms', '60000'];
    const flags = ['--without-auth', ...tlsFlags(first), ...patience];
    const server = await ServerInProcess.start({ flags });
    const { port } = new URL(server.url);
    const silent = connectTcp(Number(port), '127.0.0.1');
    const half = connectTcp(Number(port), '127.0.0.1');
    for (const socket of [silent, half]) socket.on('error', () => {});
    await Promise.all([once(silent, 'connect'), once(half, 'connect')]);
    half.write(Buffer.from([0x16, 3, 1, 2, 0]));
    const idle = await openTls(server.url);
    const quiet = await openTls(server.url, { ALPNProtocols: ['h2'] });
    quiet.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
    quiet.resume();
    await sleep(100);
    const startMs = Date.now();
    assert.equal(await server.stop(), 0);
    assert.ok(Date.now() - startMs < 30_000, `${Date.now() - startMs} ms`);
    for (const socket of [silent, half, idle, quiet]) socket.destroy();
    await server.close();
  });
});
