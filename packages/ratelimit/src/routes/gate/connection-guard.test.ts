// Source: rate-limits, section 9, unauthenticated connections of an address.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { it } from 'node:test';
import { ConnectionGuard } from './connection-guard.js';

it('admits connections of an address up to the limit, regardless of their requests', () => {
  const guard = new ConnectionGuard(2);
  const [first, second, third] = [new Socket(), new Socket(), new Socket()];
  assert.deepEqual([guard.admits('a', first), guard.admits('a', second)], [true, true]);
  assert.equal(guard.admits('a', third), false);
  // Counted connections continue, and other addresses have their own limit.
  assert.deepEqual([guard.admits('a', first), guard.admits('b', third)], [true, true]);
});

it('admits another connection after one closes, and counts each once', () => {
  const guard = new ConnectionGuard(2);
  const [first, second] = [new Socket(), new Socket()];
  for (let i = 0; i < 3; i++) guard.admits('a', first);
  assert.equal(guard.admits('a', second), true);
  first.emit('close');
  assert.equal(guard.admits('a', new Socket()), true);
  assert.equal(guard.admits('a', new Socket()), false);
  second.emit('close');
  second.emit('close'); // only the first close event counts
  assert.equal(guard.admits('a', new Socket()), true);
  assert.equal(guard.admits('a', new Socket()), false);
});
