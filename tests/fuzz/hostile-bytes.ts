import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../harness/index.js';

const HOST = 'Host: localhost\r\n';
const WRITE = 'POST /api/v3/write_lp?db=fuzz HTTP/1.1\r\n';

/** Bytes that no client library sends. */
const STARTS: readonly ((chance: Chance) => string | Buffer)[] = [
  (chance) => chance.bytes(chance.between(1, 2000)),
  () => 'GET\r\n\r\n',
  () => 'GET / HTTP/9.9\r\n\r\n',
  () => `${'G'.repeat(70_000)} / HTTP/1.1\r\n\r\n`,
  () => `GET /health?${'x'.repeat(100_000)} HTTP/1.1\r\n${HOST}\r\n`,
  () => `GET /health HTTP/1.1\r\n${HOST}X: ${'x'.repeat(100_000)}\r\n\r\n`,
  () => `GET /health HTTP/1.1\r\n${HOST}${'X: y\r\n'.repeat(5000)}\r\n`,
  () => `GET /health HTTP/1.1\r\n${HOST}X\0Y: 1\r\n\r\n`,
  () => 'GET /health HTTP/1.1\r\n\r\n',
  () => `${WRITE}${HOST}Content-Length: -1\r\n\r\nm v=1`,
  () => `${WRITE}${HOST}Content-Length: 99999999999999999999\r\n\r\nm v=1`,
  () => `${WRITE}${HOST}Content-Length: 3\r\nContent-Length: 5\r\n\r\nm v=1`,
  () => `${WRITE}${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  () => `${WRITE}${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\nm v=1\r\n0\r\n\r\n`,
  () => `${WRITE}${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\nm v=1 1\r\n0\r\n\r\n`,
  () => `${WRITE}${HOST}Transfer-Encoding: chunked\r\n\r\nffffffffff\r\nm v=1\r\n`,
  () => `${WRITE}${HOST}Expect: 200-ok\r\nContent-Length: 5\r\n\r\nm v=1`,
  () => `${WRITE}${HOST}Content-Length: 500\r\n\r\nm v=1`,
  () => `CONNECT x:80 HTTP/1.1\r\n${HOST}\r\n`,
  () => `GET /health HTTP/1.1\r\n${HOST}Upgrade: websocket\r\nConnection: upgrade\r\n\r\n`,
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  (chance) => Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), chance.bytes(500)]),
  () => 'PRI * HT',
  () => `GET /health HTTP/1.1\r\n${HOST}\r\n`.repeat(200),
];

/** Sends bytes that are not a valid request, in one piece or slowly, and disconnects. Returns the received bytes. */
export async function sendHostileBytes(port: number, chance: Chance): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {}); // The server may cut the connection as its response.
  const closed = new Promise((resolve) => socket.once('close', resolve)); // `once` rejects with an error
  const bytes = Buffer.from(chance.pick(STARTS)(chance));
  if (chance.happens(0.2)) {
    // A slow client: a few bytes at a time.
    for (let at = 0; at < Math.min(bytes.length, 40) && !socket.destroyed; at += 8) {
      socket.write(bytes.subarray(at, at + 8));
      await sleep(5);
    }
  } else socket.write(bytes);
  if (chance.happens(0.5)) socket.end();
  await Promise.race([closed, sleep(50)]);
  socket.destroy();
  return received;
}
