import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReturnedMemory } from './returned-memory.js';

const MEBIBYTE = 1_048_576;

describe('memory that is returned', () => {
  it('is free before anybody collects garbage', () => {
    const memory = new ReturnedMemory();
    const before = process.memoryUsage().arrayBuffers;
    const kept = new Uint8Array(MEBIBYTE);
    // Far more than a collection would wait for.
    for (let i = 0; i < 64; i++) {
      const given = new Float64Array(MEBIBYTE / 8);
      memory.take([given.buffer, new ArrayBuffer(16)]);
      assert.equal(given.length, 0);
      const held = process.memoryUsage().arrayBuffers - before;
      assert.ok(held < 4 * MEBIBYTE, `${held} bytes after ${i + 1} MiB`);
    }
    memory.take([]);
    assert.equal(kept.length, MEBIBYTE);
  });
});
