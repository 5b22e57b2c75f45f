import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoryShares } from './memory-shares.js';

const MIB = 1024 * 1024;
const shares = (processMib: number, given: Partial<Parameters<typeof memoryShares>[0]> = {}) => {
  const of = memoryShares({ query_memory_bytes: 0, ...given }, processMib * MIB);
  return [of.columnBytes, of.duckDbBytes, of.flushBytes, of.bufferLimitBytes].map((n) => n / MIB);
};

describe('memoryShares', () => {
  it('divides a quarter of the process limit, at least 256 MiB, or 128 below 512 MiB', () => {
    assert.deepEqual(shares(300), [64, 48, 16, 64]);
    assert.deepEqual(shares(512), [128, 96, 32, 128]);
    assert.deepEqual(shares(1024), [128, 96, 32, 128]);
    assert.deepEqual(shares(24 * 1024), [3072, 2304, 128, 1024]);
  });

  it('returns the total memory that the process may need', () => {
    const needs = (memory_bytes?: number): number =>
      memoryShares({ query_memory_bytes: 0, ...(memory_bytes && { memory_bytes }) }, 512 * MIB)
        .processNeedsBytes;
    // SIZING.md: tsdb.memory_bytes and 600 MB.
    assert.equal(needs(), 256 * MIB + 600_000_000);
    assert.equal(needs(128 * MIB), 128 * MIB + 600_000_000);
  });

  it('flushes long before writes are rejected', () => {
    assert.deepEqual(shares(1024, { buffer_limit_bytes: 4 * MIB }), [128, 96, 1, 4]);
  });

  it("accepts a DuckDB limit above the default and keeps the columns' part", () => {
    assert.deepEqual(shares(1024, { query_memory_bytes: 800 * MIB }), [128, 800, 32, 128]);
  });
});
