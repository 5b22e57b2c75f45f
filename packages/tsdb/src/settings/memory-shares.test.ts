import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoryShares } from './memory-shares.js';

const MIB = 1024 * 1024;
const shares = (processMib: number, given: Partial<Parameters<typeof memoryShares>[0]> = {}) => {
  const of = memoryShares({ query_memory_bytes: 0, ...given }, processMib * MIB);
  return [of.columnBytes, of.engineBytes, of.flushBytes, of.bufferLimitBytes].map((n) => n / MIB);
};

describe('memoryShares', () => {
  it('divides a quarter of what the process may use, at least 256 MiB', () => {
    assert.deepEqual(shares(512), [128, 96, 32, 128]);
    assert.deepEqual(shares(1024), [128, 96, 32, 128]);
    assert.deepEqual(shares(24 * 1024), [3072, 2304, 128, 1024]);
  });

  it('flushes long before writes are refused', () => {
    assert.deepEqual(shares(1024, { buffer_limit_bytes: 4 * MIB }), [128, 96, 1, 4]);
  });

  it('takes an engine that is larger than the default allows, and leaves columns their part', () => {
    assert.deepEqual(shares(1024, { query_memory_bytes: 800 * MIB }), [128, 800, 32, 128]);
  });
});
