// Source: docs/adr/0082-file-commits.md, "Testing". An hour of random load, or
// PLINTH_STORAGE_MINUTES, in which one call in a hundred fails: all sizes stay bounded. Prints a
// line per minute.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Census, simulate } from './simulate.js';

const FAILING_SHARE = 0.01;
const TABLE_COUNT = 4;
/** Limits over all tables between two merges; files of a failed merge wait for the next one. */
const MAX: Omit<Census, 'startCount'> = {
  rowCount: 1000,
  segmentCount: 80 * TABLE_COUNT,
  seriesFileCount: 30 * TABLE_COUNT,
  tombstoneCount: 250 * TABLE_COUNT,
  logFileCount: 50,
  tempFileCount: 50,
};
const MAX_RSS_BYTES = 2 ** 30;

const NAMES = [
  ...['minute', 'steps', 'starts', 'rows', 'segments', 'series files', 'tombstones'],
  ...['log files', 'temp files', 'MiB'],
];

it('keeps files, deletions, log and memory bounded through an hour of failing calls', async () => {
  const minutes = Number(process.env['PLINTH_STORAGE_MINUTES'] ?? 60);
  assert.ok(minutes > 0, 'PLINTH_STORAGE_MINUTES is a positive number');
  const seed = Number(process.env['PLINTH_SIMULATION_SEED'] ?? Date.now() % 1_000_000);
  const startedMs = performance.now();
  const say = (cells: readonly (string | number)[]): void => {
    process.stdout.write(`${cells.map((cell) => String(cell).padStart(12)).join('')}\n`);
  };
  say(NAMES);
  let steps = 0;
  let minute = 0;
  const onStep = async (look: () => Promise<Census>): Promise<boolean> => {
    steps++;
    if (performance.now() - startedMs < (minute + 1) * 60_000) return true;
    minute++;
    const found = await look();
    const { rowCount, segmentCount, seriesFileCount, tombstoneCount } = found;
    const { logFileCount, tempFileCount, startCount } = found;
    const rss = process.memoryUsage.rss();
    const files = [segmentCount, seriesFileCount, tombstoneCount, logFileCount, tempFileCount];
    say([minute, steps, startCount, rowCount, ...files, Math.round(rss / 2 ** 20)]);
    for (const [name, max] of Object.entries(MAX)) {
      const count = found[name as keyof Census]; // its own key
      assert.ok(count <= max, `${name} ${count} in minute ${minute}, at most ${max}`);
    }
    assert.ok(rss <= MAX_RSS_BYTES, `${rss} bytes of memory in minute ${minute}`);
    return minute < minutes;
  };
  const stepCount = Number.POSITIVE_INFINITY;
  await simulate({ seed, stepCount, failing: FAILING_SHARE, onStep });
});
