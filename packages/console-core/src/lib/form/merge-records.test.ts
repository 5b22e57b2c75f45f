// Source: docs/CONSOLE.md, "Edit game data".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mergeRecords } from './merge-records.js';

it('merges changes of different members, and lists members that both changed', () => {
  const base = { name: 'Wren', price: 1, tags: ['a'], gone: 1 };
  const theirs = { name: 'Wren 2', price: 2, tags: ['a'] };
  const mine = { name: 'Wren', price: 3, tags: ['a', 'b'], gone: 1, fresh: true };
  assert.deepEqual(mergeRecords(base, theirs, mine), {
    merged: { name: 'Wren 2', price: 3, tags: ['a', 'b'], fresh: true },
    conflicts: [{ name: 'price', base: 1, theirs: 2, mine: 3 }],
  });
  assert.deepEqual(mergeRecords(base, base, mine).conflicts, []);
  assert.deepEqual(mergeRecords(base, mine, mine), { merged: mine, conflicts: [] });
});
