// Source: docs/SECURITY-NETWORK.md, "Connections and proxies": one address cannot use up all connections, and idle connections are closed.
// Own process: one test sets a limit on open files.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { type OwnServer, ServerInProcess, ServerProcess } from '../../harness/index.js';

async function open(server: OwnServer, localAddress = '127.0.0.1'): Promise<Socket> {
  const { port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function isAnswered(socket: Socket): Promise<boolean> {
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return await new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
}

/** On other systems, each loopback address must be configured. */
const SKIP =
  process.platform === 'linux'
    ? false
    : 'only Linux has the addresses 127.0.0.2 to 127.0.0.4 as it is';

describe('connections of one address', { skip: SKIP }, () => {
  it('are closed beyond the limit, without affecting others', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--server-max-connections-per-address', '5'],
    });
    const own = await Promise.all(Array.from({ length: 5 }, () => open(server, '127.0.0.2')));
    for (const socket of own) assert.equal(await isAnswered(socket), true);
    assert.equal(await isAnswered(await open(server, '127.0.0.2')), false);
    assert.equal(await isAnswered(await open(server, '127.0.0.3')), true);
    own[0]?.destroy();
    await once(own[0] ?? assert.fail(), 'close');
    let isIn = false;
    for (let left = 50; left > 0 && !isIn; left -= 1) {
      isIn = await isAnswered(await open(server, '127.0.0.2'));
    }
    assert.equal(isIn, true, 'a place that was given back is free');
    for (const socket of own) socket.destroy();
  });

  it('are not counted for trusted proxies', async () => {
    await using server = await ServerInProcess.start({
      flags: [
        ...['--without-auth', '--server-max-connections-per-address', '2'],
        ...['--server-trusted-proxies', '127.0.0.4/32'],
      ],
    });
    const sockets = await Promise.all(Array.from({ length: 6 }, () => open(server, '127.0.0.4')));
    for (const socket of sockets) assert.equal(await isAnswered(socket), true);
    for (const socket of sockets) socket.destroy();
  });
});

const LOW_FILE_LIMIT =
  'low limit of open files: the server refuses connections above maxConnections, and writes may fail; raise the limit (ulimit -n, LimitNOFILE=)';

it('logs no warning about open files at the documented minimum', { skip: SKIP }, async () => {
  await using server = await ServerProcess.start({ limits: 'ulimit -n 1024' });
  assert.equal(server.logged(LOW_FILE_LIMIT), undefined);
});

it('connections leave file descriptors for the disk', {
  skip: SKIP,
}, async () => {
  const fileCount = 512;
  await using server = await ServerProcess.start({
    flags: ['--without-auth', '--services', 'tsdb'],
    limits: `ulimit -n ${fileCount}`,
  });
  const warning = server.logged(LOW_FILE_LIMIT);
  assert.deepEqual(
    [warning?.['level'], warning?.['fileLimit'], warning?.['neededFileLimit']],
    ['warn', fileCount, 1024],
  );
  assert.equal(warning?.['maxConnections'], fileCount - 192);
  const write = '/api/v3/write_lp?db=db1';
  assert.equal((await server.http.send(write, { body: 'm v=1 1' })).status, 204);
  const sockets = await Promise.all(
    Array.from({ length: fileCount }, () => open(server, '127.0.0.2')),
  );
  const answered = await Promise.all(sockets.map(isAnswered));
  const openCount = answered.filter((is) => is).length;
  // 192 of 512 descriptors are reserved; the client above uses one connection.
  assert.ok(openCount > 300 && openCount < fileCount - 192, `${openCount} connections`);
  for (const socket of sockets) socket.destroy();
  assert.equal((await server.http.send(write, { body: 'm v=2 2' })).status, 204);
});

describe('connections without a complete request', { concurrency: true, timeout: 90_000 }, () => {
  /** The data that a client sends before it stops. */
  const BEGINNINGS = [
    ['nothing', ''],
    ['a piece of a method', 'PO'],
    ['a piece of a request line', 'GET /hea'],
    ['half a head', 'GET /health HTTP/1.1\r\nHost: localhost\r\n'],
    ['a piece of the preface of HTTP/2', 'PRI * HTTP/2.0\r\n'],
  ] as const;

  it('are closed, whatever they have sent', async () => {
    await using server = await ServerInProcess.start();
    const startMs = performance.now();
    const tookMs = await Promise.all(
      BEGINNINGS.map(async ([, text]) => {
        const socket = await open(server);
        socket.resume();
        if (text !== '') socket.write(text);
        await once(socket, 'close');
        return performance.now() - startMs;
      }),
    );
    // 15 seconds, checked every five, plus slack for a busy machine.
    for (const [index, took] of tookMs.entries()) {
      const name = `${BEGINNINGS[index]?.[0]}: ${took} ms`;
      assert.ok(took > 10_000 && took < 60_000, name);
    }
  });

  it('are closed when a head arrives endlessly, byte by byte', async () => {
    await using server = await ServerInProcess.start();
    const socket = await open(server);
    socket.resume();
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n');
    const drip = setInterval(() => socket.write('x'), 500);
    await once(socket, 'close');
    clearInterval(drip);
  });
});
