// Source: tsdb-http, "Transport and common behavior" and `--shutdown-timeout`: a shutdown aborts running calls.
// Own process: it gets signals.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { it } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { CLI, countStart } from '../../harness/cli.js';
import { RawConnection, ServerProcess, temporaryFolder } from '../../harness/index.js';
import { ownVariables } from '../../harness/server-process.js';

const HEADERS = 1;
const SETTINGS = 4;
const END_HEADERS = 4;

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** A header as a literal, with its name from the static table. Source: RFC 7541, section 6.2.2. */
const literal = (nameIndex: number, value: string): Buffer =>
  Buffer.concat([
    nameIndex < 15 ? Buffer.from([nameIndex]) : Buffer.from([0x0f, nameIndex - 15]),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);

/** POST, http, path, host, gRPC. */
const callOf = (method: string): Buffer =>
  Buffer.concat([
    Buffer.from([0x83, 0x86]),
    literal(4, `/arrow.flight.protocol.FlightService/${method}`),
    literal(1, 'localhost'),
    literal(31, 'application/grpc'),
  ]);

it('T-01 F-01 a shutdown does not wait for HTTP/2 clients that never close', {
  timeout: 60_000,
}, async () => {
  await using server = await ServerProcess.start({
    flags: ['--without-auth', '--shutdown-timeout', '1s'],
  });
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  // Calls that wait for their first message.
  socket.write(frame(HEADERS, END_HEADERS, 1, callOf('DoGet')));
  socket.write(frame(HEADERS, END_HEADERS, 3, callOf('Handshake')));
  // Server settings and handshake headers; no further data is read.
  await once(socket, 'data');
  socket.pause();
  const startMs = performance.now();
  assert.equal(await server.stop(), 0);
  assert.ok(performance.now() - startMs < 10_000);
  assert.ok(!server.logText.includes('"level":"error"'), server.logText);
  socket.destroy();
});

it('health checks report the shutdown to any client', async () => {
  await using server = await ServerProcess.start();
  const paths = ['/health', '/api/v1/health', '/ready', '/ops/v1/ready'];
  const waiting = await Promise.all(
    paths.map(async (path) => {
      const connection = await RawConnection.open(server.url);
      connection.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n`);
      return { connection, path };
    }),
  );
  // A later response shows that they have been read.
  await server.http.send('/health');
  server.signal('SIGTERM');
  // Closing servers accept no connections.
  while (
    await RawConnection.open(server.url).then(
      () => true,
      () => false,
    )
  )
    await setImmediate();
  for (const { connection, path } of waiting) {
    connection.send('\r\n');
    const response = await connection.until(/\}$/);
    assert.match(response, /^HTTP\/1.1 503 /, path);
    assert.match(response, /"not ready: shutting down"/, path);
  }
  assert.equal(await server.stop(), 0);
});

it('SIGHUP without TLS is logged and does not stop the server', async () => {
  await using server = await ServerProcess.start();
  server.signal('SIGHUP');
  const message = 'SIGHUP handled; settings are read only at startup';
  for (let count = 0; count < 100 && server.logged(message) === undefined; count++) await sleep(50);
  const line = server.logged(message);
  assert.deepEqual([line?.['level'], line?.['reloaded']], ['info', []], server.logText);
  assert.equal((await server.http.send('/health')).status, 200);
  assert.equal(await server.stop(), 0);
});

it('signals during startup neither stop the server nor open a debugger', {
  skip: process.platform !== 'linux' && 'signals that a process handles are read from /proc',
}, async (t) => {
  const dataDir = await temporaryFolder();
  const flags = ['--without-auth', '--http-bind', '127.0.0.1:0', '--data-dir', dataDir];
  await countStart();
  const child = spawn(process.execPath, [CLI, 'serve', ...flags], {
    env: ownVariables(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let logged = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text;
  });
  const handlesHangup = async (): Promise<boolean> => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return (BigInt(`0x${/^SigCgt:\s*(\w+)$/m.exec(status)?.[1]}`) & 1n) === 1n;
  };
  for (let count = 0; count < 2000 && !(await handlesHangup()); count++) await sleep(5);
  assert.equal(logged, '', 'the start has not begun');
  for (let count = 0; count < 1000 && !logged.includes('"server listens"'); count++) {
    child.kill('SIGHUP');
    child.kill('SIGUSR1');
    await sleep(20);
  }
  assert.match(logged, /"server listens"/);
  assert.doesNotMatch(logged, /Debugger/);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});
