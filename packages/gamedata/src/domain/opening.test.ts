import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { Opening, RETRY_MS } from './opening.js';

function openingOf(open: () => Promise<void>) {
  const clock = new ManualClock(0);
  const messages: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => void messages.push(JSON.parse(line).msg) },
  });
  const closing = new AbortController();
  const opening = new Opening({ clock, log, signal: closing.signal, open });
  return { clock, messages, closing, opening };
}

it('retries opening the data, and rejects requests until it succeeds', async () => {
  let attemptCount = 0;
  let openedCount = 0;
  const { clock, messages, opening } = openingOf(async () => {
    attemptCount += 1;
    if (attemptCount < 4) throw new Error('the database is away');
  });
  opening.begin(() => {
    openedCount += 1;
  });
  for (let turn = 1; turn < 4; turn++) {
    await assert.rejects(async () => opening.ready(), { kind: 'unavailable' });
    await assert.rejects(async () => opening.ready(), { kind: 'unavailable' });
    assert.equal(attemptCount, turn);
    assert.equal(openedCount, 0);
    await clock.advanceMs(RETRY_MS);
  }
  await opening.ended();
  assert.equal(opening.ready(), undefined);
  assert.equal(openedCount, 1);
  await clock.advanceMs(10 * RETRY_MS);
  assert.equal(attemptCount, 4);
  assert.deepEqual(messages, [
    'cannot load the game data; retrying',
    'game data loaded after retries',
  ]);
});

it('lets requests wait for a running attempt', async () => {
  let finish = (): void => undefined;
  const attempt = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { opening } = openingOf(() => attempt);
  opening.begin(() => undefined);
  const waiting = opening.ready();
  assert.notEqual(waiting, undefined);
  finish();
  await waiting;
  await opening.ended();
  assert.equal(opening.ready(), undefined);
});

it('stops the attempts when the service closes', async () => {
  let attemptCount = 0;
  const { clock, closing, opening } = openingOf(async () => {
    attemptCount += 1;
    throw new Error('the database is away');
  });
  opening.begin(() => assert.fail('nothing was opened'));
  await assert.rejects(async () => opening.ready());
  closing.abort();
  await opening.ended();
  await clock.advanceMs(10 * RETRY_MS);
  assert.equal(attemptCount, 1);
});
