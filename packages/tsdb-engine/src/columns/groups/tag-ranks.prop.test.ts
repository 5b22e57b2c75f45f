import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { runThrough, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import fc from 'fast-check';
import { tagRanks } from './tag-ranks.js';

// U+FFFD and U+1F600 sort differently as UTF-16 and as UTF-8.
const unitArb = fc.constantFrom('', 'a', 'b', '1', '10', 'é', '\u{d7ff}', '\u{fffd}', '\u{1f600}');
const textArb = fc.array(unitArb, { minLength: 1, maxLength: 4 }).map((units) => units.join(''));

/** Reference: a plain sort of all values by their bytes. */
function expectedRanks(values: readonly (string | undefined)[]): number[] {
  const sorted = values
    .flatMap((text, code) => (text === undefined ? [] : [{ code, bytes: Buffer.from(text) }]))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  const ranks = values.map(() => 0);
  sorted.forEach(({ code }, i) => {
    ranks[code] = i + 1;
  });
  return ranks;
}

const tagOf = (values: readonly (string | undefined)[]) => ({
  values,
  get valueCount() {
    return values.length;
  },
});

const ranksOf = (values: readonly (string | undefined)[]): number[] =>
  Array.from(runThrough(tagRanks(tagOf(values), values.length)) ?? []);

describe('tagRanks', () => {
  it('ranks values in byte order, whatever their insertion order', () => {
    fc.assert(
      fc.property(fc.array(fc.array(textArb, { maxLength: 40 }), { maxLength: 6 }), (rounds) => {
        const values: (string | undefined)[] = [undefined];
        for (const texts of rounds) {
          for (const text of texts) if (!values.includes(text)) values.push(text);
          assert.deepEqual(ranksOf(values), expectedRanks(values));
        }
      }),
      { numRuns: caseCount(300) },
    );
  });

  it('returns the same ranks when values arrive between steps', async () => {
    const textOf = (i: number): string => `${(i * 7919) % 20_011}-\u{1f600}`;
    const values: (string | undefined)[] = [undefined];
    for (let i = 0; i < 15_000; i++) values.push(textOf(i));
    const tag = tagOf(values);
    const making = [1, 2].map(() => new TimeSlicedTask().run(tagRanks(tag, values.length)));
    for (let i = 15_000; i < 15_100; i++) values.push(textOf(i));
    await Promise.all(making);
    for (let i = 15_100; i < 15_110; i++) values.push(textOf(i));
    assert.deepEqual(ranksOf(values), expectedRanks(values));
  });
});
