import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '../log/logger.js';
import { ManualClock } from '../testing/manual-clock.js';
import { watchState } from './watch-state.js';

const INTERVAL_MS = 1000;

function watchOf(read: () => unknown) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const told: unknown[] = [];
  const log = createLogger({ level: 'trace', destination: { write: (line) => lines.push(line) } });
  const watch = watchState({ clock, log, intervalMs: INTERVAL_MS }, read, (state) =>
    told.push(state),
  );
  return { clock, lines, told, watch };
}

it('notifies immediately, and then on changes', async () => {
  let state = 1;
  const { clock, told, lines } = watchOf(() => ({ state }));
  await clock.advanceMs(3 * INTERVAL_MS);
  state = 2;
  await clock.advanceMs(2 * INTERVAL_MS);
  assert.deepEqual(told, [{ state: 1 }, { state: 2 }]);
  assert.deepEqual(lines, []);
});

it('warns only once when reading fails repeatedly', async () => {
  let isAway = true;
  const { clock, told, lines } = watchOf(() => {
    if (isAway) throw new Error('away');
    return 1;
  });
  await clock.advanceMs(5 * INTERVAL_MS);
  assert.equal(lines.length, 1);
  isAway = false;
  await clock.advanceMs(INTERVAL_MS);
  isAway = true;
  await clock.advanceMs(5 * INTERVAL_MS);
  assert.equal(lines.length, 2);
  assert.deepEqual(told, [1]);
});

it('does not report a failure after disposal', async () => {
  let fail = (_error: Error): void => undefined;
  const { clock, lines, watch } = watchOf(
    () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      }),
  );
  await clock.advanceMs(10);
  watch[Symbol.dispose]();
  fail(new Error('closed'));
  await clock.advanceMs(10);
  assert.deepEqual(lines, []);
});

it('never reads concurrently', async () => {
  let lookCount = 0;
  let respond = (_state: number): void => undefined;
  const { clock, told } = watchOf(() => {
    lookCount++;
    return new Promise<number>((resolve) => {
      respond = resolve;
    });
  });
  await clock.advanceMs(10 * INTERVAL_MS);
  assert.equal(lookCount, 1);
  respond(7);
  await clock.advanceMs(INTERVAL_MS);
  assert.equal(lookCount, 2);
  assert.deepEqual(told, [7]);
});
