import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LAST_USED_ACCURACY_MS, LastUsed } from './last-used.js';

const open = () => {
  const stored: (readonly [number, number])[][] = [];
  const state = { isFailing: false };
  const lastUsed = new LastUsed<number>(async (uses) => {
    if (state.isFailing) throw new Error('full');
    stored.push([...uses]);
  });
  return { lastUsed, stored, state };
};

it('records one use per minute and stores it once', async () => {
  const { lastUsed, stored } = open();
  for (const ms of [1000, 1001, 1000 + LAST_USED_ACCURACY_MS - 1]) lastUsed.note(1, ms);
  assert.equal(lastUsed.of(1), 1000);
  await lastUsed.flush();
  await lastUsed.flush();
  assert.deepEqual(stored, [[[1, 1000]]]);
  lastUsed.note(1, 1000 + LAST_USED_ACCURACY_MS);
  await lastUsed.flush();
  assert.deepEqual(stored[1], [[1, 1000 + LAST_USED_ACCURACY_MS]]);
});

it('retries uses that could not be stored', async () => {
  const { lastUsed, stored, state } = open();
  lastUsed.note(1, 1000);
  state.isFailing = true;
  await lastUsed.flush();
  state.isFailing = false;
  await lastUsed.flush();
  assert.deepEqual(stored, [[[1, 1000]]]);
});

it('keeps the latest use of all nodes and ignores deleted credentials', async () => {
  const { lastUsed, stored } = open();
  lastUsed.note(1, 1000);
  lastUsed.note(2, 5000);
  lastUsed.note(3, 1000);
  lastUsed.load([
    [1, 9000],
    [2, 4000],
    [4, undefined],
  ]);
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => lastUsed.of(id)),
    [9000, 5000, undefined, undefined],
  );
  await lastUsed.flush();
  assert.deepEqual(stored, [
    [
      [1, 1000],
      [2, 5000],
    ],
  ]);
});

it('stores many uses in several transactions', async () => {
  const { lastUsed, stored } = open();
  for (let id = 1200; id > 0; id--) lastUsed.note(id, id);
  await lastUsed.flush();
  assert.deepEqual(
    stored.map(({ length }) => length),
    [500, 500, 200],
  );
  assert.deepEqual(stored[0]?.[0], [1, 1]);
});
