import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SpareMemory } from './spare-memory.js';

it('reuses released memory for exactly one later chunk', () => {
  const spare = new SpareMemory();
  const first = spare.forChunk();
  const memory = first.take(64);
  assert.notEqual(spare.forChunk().take(64), memory);
  first.release();
  first.release();
  const third = spare.forChunk();
  assert.equal(third.take(32), memory);
  assert.notEqual(third.take(32), memory);
  third.release();
  assert.equal(spare.forChunk().take(65).byteLength, 65);
});
