import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryWatch } from './memory-watch.js';

const LIMIT_BYTES = 1000;
const INTERVAL_MS = 20;

/**
 * Creates a watch over a process that uses 500 bytes when its first statement starts, and
 * `laterBytes` afterwards.
 */
function watchAt(laterBytes: number, machineBytes: number) {
  let residentBytes = 500;
  const watch = new MemoryWatch({
    limitBytes: LIMIT_BYTES,
    residentBytes: () => residentBytes,
    machineBytes,
    ownBytes: 0,
    intervalMs: INTERVAL_MS,
  });
  return new Promise<boolean>((resolve) => {
    const statement = watch.begin(() => {
      assert.throws(() => statement.check(), /Resources exhausted: .*query_memory_bytes/);
      statement.end();
      clearTimeout(timer);
      resolve(true);
    });
    residentBytes = laterBytes;
    const timer = setTimeout(() => {
      statement.check();
      statement.end();
      resolve(false);
    }, 4 * INTERVAL_MS);
  });
}

it('stops statements when the process has grown by twice their limit', async () => {
  assert.equal(await watchAt(2501, 100_000), true);
  assert.equal(await watchAt(2500, 100_000), false);
});

it('stops statements before the machine runs out of memory, and allows half of the limit in any case', async () => {
  assert.equal(await watchAt(1801, 2000), true);
  assert.equal(await watchAt(1800, 2000), false);
  assert.equal(await watchAt(1000, 600), false);
});

it('stops the youngest statement of the previous check, and others only while memory grows further', async () => {
  let residentBytes = 500;
  const watch = new MemoryWatch({
    limitBytes: LIMIT_BYTES,
    residentBytes: () => residentBytes,
    machineBytes: 100_000,
    ownBytes: 0,
    intervalMs: INTERVAL_MS,
  });
  const stopped: string[] = [];
  const begin = (name: string) => watch.begin(() => stopped.push(name));
  const old = begin('old');
  const large = begin('large');
  await sleep(3 * INTERVAL_MS);
  residentBytes = 3000;
  const short = begin('short');
  await sleep(3 * INTERVAL_MS);
  assert.deepEqual(stopped, ['large']);
  assert.throws(() => large.check(), /Resources exhausted/);
  large.end();
  short.check();
  short.end();
  // Memory kept by the allocator does not stop further statements.
  await sleep(10 * INTERVAL_MS);
  assert.deepEqual(stopped, ['large']);
  residentBytes = 6000;
  await sleep(3 * INTERVAL_MS);
  assert.deepEqual(stopped, ['large', 'old']);
  old.end();
});

it('stops statements at the limit of the machine, regardless of memory kept by the allocator', async () => {
  let residentBytes = 500;
  const watch = new MemoryWatch({
    limitBytes: LIMIT_BYTES,
    residentBytes: () => residentBytes,
    machineBytes: 4000,
    ownBytes: 0,
    intervalMs: INTERVAL_MS,
  });
  const stopped: string[] = [];
  const begin = (name: string) => watch.begin(() => stopped.push(name));
  const statements = ['a', 'b', 'c'].map(begin);
  await sleep(3 * INTERVAL_MS);
  // 90 % of the machine are 3,600 bytes.
  residentBytes = 3700;
  for (let i = 0; i < 100 && stopped.length < 3; i++) await sleep(INTERVAL_MS);
  assert.deepEqual(stopped, ['c', 'b', 'a']);
  for (const statement of statements) statement.end();
});
