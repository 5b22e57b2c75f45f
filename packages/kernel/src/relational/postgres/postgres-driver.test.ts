import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { it } from 'node:test';
import pg from 'pg';
import { PostgresDriver } from './postgres-driver.js';
import { PostgresLiveness } from './postgres-liveness.js';

/** A message of the PostgreSQL protocol, version 3: type, length, content. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const TERMINATED = message(
  'E',
  Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
);

it('survives a server that closes a connection immediately after the handshake', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, TERMINATED])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd' });
  const lost: Error[] = [];
  pool.on('error', (error) => lost.push(error));
  const pulse = new PostgresLiveness(async () => undefined);
  const limits = { maxWaitingCount: 10, maxTransactionMs: 1000 };
  const driver = new PostgresDriver({ pool, pulse, limits, writes: undefined });
  try {
    // An unhandled error event would fail this test.
    const connection = await driver.acquireConnection();
    const query = { sql: 'select 1', parameters: [] };
    await assert.rejects(connection.executeQuery(query as never));
    await driver.releaseConnection(connection);
  } finally {
    pulse.close();
    await driver.destroy();
    server.close();
  }
});
