// Source: rate-limits, section 9: connections of an address that ask without a credential.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { it } from 'node:test';
import { ConnectionGuard } from './connection-guard.js';

it('takes as many connections of an address as it may have, whatever they ask', () => {
  const guard = new ConnectionGuard(2);
  const [first, second, third] = [new Socket(), new Socket(), new Socket()];
  assert.deepEqual([guard.admits('a', first), guard.admits('a', second)], [true, true]);
  assert.equal(guard.admits('a', third), false);
  // Those that are known go on, and others' addresses are their own.
  assert.deepEqual([guard.admits('a', first), guard.admits('b', third)], [true, true]);
});

it('takes another when one is closed, and counts each once', () => {
  const guard = new ConnectionGuard(2);
  const [first, second] = [new Socket(), new Socket()];
  for (let i = 0; i < 3; i++) guard.admits('a', first);
  assert.equal(guard.admits('a', second), true);
  first.emit('close');
  assert.equal(guard.admits('a', new Socket()), true);
  assert.equal(guard.admits('a', new Socket()), false);
  second.emit('close');
  second.emit('close'); // heard once
  assert.equal(guard.admits('a', new Socket()), true);
  assert.equal(guard.admits('a', new Socket()), false);
});
