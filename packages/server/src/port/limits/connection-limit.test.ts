import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { it } from 'node:test';
import { ConnectionLimit } from './connection-limit.js';

async function close(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
}

it('limits connections per address and frees a slot when one closes', async () => {
  const limit = new ConnectionLimit(3, (address) => address === '10.0.0.9');
  const sockets = Array.from({ length: 3 }, () => new Socket());
  for (const socket of sockets) assert.equal(limit.admits(socket, '192.0.2.1'), true);
  assert.equal(limit.admits(new Socket(), '192.0.2.1'), false);
  assert.equal(limit.admits(new Socket(), '192.0.2.2'), true);
  for (let i = 0; i < 5; i++) assert.equal(limit.admits(new Socket(), '10.0.0.9'), true);
  const [first, second] = sockets as [Socket, Socket];
  await close(first);
  assert.equal(limit.admits(new Socket(), '192.0.2.1'), true);
  assert.equal(limit.admits(new Socket(), '192.0.2.1'), false);
  await close(second);
  assert.equal(limit.admits(new Socket(), '192.0.2.1'), true);
  assert.equal(limit.admits(new Socket(), '192.0.2.1'), false);
});

it('counts an IPv6 /64 network as one address', () => {
  const limit = new ConnectionLimit(1, () => false);
  assert.equal(limit.admits(new Socket(), '2001:db8::1'), true);
  assert.equal(limit.admits(new Socket(), '2001:db8::2'), false);
  assert.equal(limit.admits(new Socket(), '2001:db8:0:1::1'), true);
});

it('stores nothing about an address without open connections', async () => {
  const limit = new ConnectionLimit(10, () => false);
  const sockets = Array.from({ length: 20 }, () => new Socket());
  for (const [i, socket] of sockets.entries()) limit.admits(socket, `192.0.2.${i >> 1}`);
  assert.equal(limit.addressCount, 10);
  for (const socket of sockets) await close(socket);
  assert.equal(limit.addressCount, 0);
});
