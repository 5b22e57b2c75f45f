import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RefusedGroups, refusedText } from './refused-groups.js';

const textsOf = (rows: readonly (readonly [line: number, message: string, kind?: string])[]) => {
  const groups = new RefusedGroups();
  for (const [line, message, kind] of rows)
    groups.add({ line, message, ...(kind !== undefined && { kind }) });
  return groups.list.map(refusedText);
};

it('lists errors of one kind once, with the lines of all their rows', () => {
  assert.deepEqual(
    textsOf([
      [7, 'no'],
      [2, "'x' is no int", 'int'],
      [3, "'y' is no int", 'int'],
      [4, "'z' is no int", 'int'],
      [9, "'z' is no int", 'int'],
      [8, 'no'],
    ]),
    [
      "line 2: 'x' is no int; the same error in lines 3–4, 9",
      'line 7: no; the same error in line 8',
    ],
  );
});

it('limits the number of listed errors', () => {
  const odd = Array.from({ length: 13 }, (_, i) => [2 * i + 1, 'no'] as const);
  assert.deepEqual(textsOf(odd), [
    'line 1: no; the same error in lines 3, 5, 7, 9, 11, 13, 15, 17, 19, 21 and 2 more',
  ]);
  assert.equal(textsOf(Array.from({ length: 30 }, (_, i) => [i, `m${i}`] as const)).length, 20);
});
