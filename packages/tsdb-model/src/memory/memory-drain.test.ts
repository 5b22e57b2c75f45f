import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryDrain } from './memory-drain.js';

const MEBIBYTE = 1_048_576;

describe('freed memory', () => {
  it('is released before a garbage collection', () => {
    const drain = new MemoryDrain();
    const before = process.memoryUsage().arrayBuffers;
    const kept = new Uint8Array(MEBIBYTE);
    // Far more than the runtime allocates before a collection.
    for (let i = 0; i < 64; i++) {
      const given = new Float64Array(MEBIBYTE / 8);
      drain.free(given.buffer, new ArrayBuffer(16));
      assert.equal(given.length, 0);
      const held = process.memoryUsage().arrayBuffers - before;
      assert.ok(held < 4 * MEBIBYTE, `${held} bytes after ${i + 1} MiB`);
    }
    drain.free();
    assert.equal(kept.length, MEBIBYTE);
  });
});
