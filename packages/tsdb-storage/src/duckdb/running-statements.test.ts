// Source: query-languages, "Guards" (memory).
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RunningStatements } from './running-statements.js';

const { signal } = new AbortController();

it('retries a statement once concurrent ones have ended', async () => {
  const statements = new RunningStatements();
  const larger = statements.begin();
  const failed = statements.begin();
  let mayRun: boolean | undefined;
  const waiting = failed.waitForRetry(signal).then((may) => {
    mayRun = may;
  });
  await setImmediate();
  assert.equal(mayRun, undefined, 'the other one still runs');
  larger.end();
  await waiting;
  assert.equal(mayRun, true);
  failed.end();
  assert.equal(statements.count, 0);
});

it('retries immediately if the other statement failed before', async () => {
  const statements = new RunningStatements();
  const failed = statements.begin();
  statements.begin().end();
  assert.equal(await failed.waitForRetry(signal), true);
});

it('runs a statement at most four times', async () => {
  const statements = new RunningStatements();
  const failed = statements.begin();
  statements.begin().end();
  const responses: boolean[] = [];
  for (let i = 0; i < 4; i++) responses.push(await failed.waitForRetry(signal));
  assert.deepEqual(responses, [true, true, true, false]);
});

it('does not retry a statement that ran without others, or whose client has disconnected', async () => {
  const statements = new RunningStatements();
  const alone = statements.begin();
  assert.equal(await alone.waitForRetry(signal), false);
  const left = new AbortController();
  statements.begin();
  const failed = statements.begin();
  const waiting = failed.waitForRetry(left.signal);
  left.abort();
  assert.equal(await waiting, false);
});

it('retries statements that failed together one after the other', async () => {
  const statements = new RunningStatements();
  const [first, second] = [statements.begin(), statements.begin()];
  const order: string[] = [];
  const waits = [first, second].map(async (each, index) => {
    await each.waitForRetry(signal);
    order.push(`run ${index}`);
  });
  await waits[0];
  await setImmediate();
  assert.deepEqual(order, ['run 0'], 'nothing runs that the first would wait for');
  first.end();
  await waits[1];
  assert.deepEqual(order, ['run 0', 'run 1']);
});
