import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EditDistance } from '@plinth/kernel';
import { caseCount } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { orderIds } from '../../data/id-order.js';
import { Row } from '../../data/row.js';
import { SmallestKeys } from '../smallest-keys.js';
import { PackedTexts } from './packed-texts.js';

const term = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é'), maxLength: 10 });

/** The full matrix of the textbook definition. */
function editsByDefinition(a: string, b: string): number {
  const at = new Map<string, number>();
  const cost = (i: number, j: number): number => at.get(`${i},${j}`) ?? Number.POSITIVE_INFINITY;
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      const ways = [cost(i - 1, j) + 1, cost(i, j - 1) + 1];
      ways.push(cost(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) ways.push(cost(i - 2, j - 2) + 1);
      at.set(`${i},${j}`, i === 0 && j === 0 ? 0 : Math.min(...ways));
    }
  }
  return cost(a.length, b.length);
}

describe('search components', () => {
  it('computes edit distances up to the limit, for consecutive words', () => {
    fc.assert(
      fc.property(
        term,
        fc.array(term, { maxLength: 20 }),
        fc.constantFrom(1, 2),
        (own, others, limit) => {
          const edits = new EditDistance(own, limit);
          for (const other of others) {
            const expected = Math.min(editsByDefinition(own, other), limit + 1);
            assert.equal(edits.to(other), expected, `${own} ${other} ${limit}`);
          }
        },
      ),
    );
  });

  it('keeps the smallest of any number of keys in order', () => {
    const keys = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 5_000, size: 'max' });
    fc.assert(
      fc.property(keys, fc.nat(3_000), (all, count) => {
        const smallest = new SmallestKeys(count, all.length);
        for (const key of all) smallest.offer(key);
        const expected = all.toSorted((a, b) => a - b).slice(0, count);
        assert.deepEqual([...smallest.sorted()], expected);
      }),
      { numRuns: caseCount(50) },
    );
  });

  it('finds the same substrings as a search in each name', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é'), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(name, { maxLength: 30 }), name, (names, part) => {
        const texts = new PackedTexts(PackedTexts.pack(names));
        const found: number[] = [];
        texts.find(Buffer.from(part), (index) => found.push(index));
        const lines: string[] = [];
        texts.visitLines(0, (line) => lines.push(line));
        assert.deepEqual(
          lines,
          names.map((one) => one.split('\n', 1)[0]),
        );
        const expected = names.flatMap((one, index) => (one.includes(part) ? [index] : []));
        assert.deepEqual(found, expected, JSON.stringify([names, part]));
        assert.deepEqual(
          names.map((_, index) => texts.at(index)),
          names,
        );
      }),
      { numRuns: caseCount(2_000) },
    );
  });

  it('sorts thousands of ids by code point, with the inverse order', async () => {
    for (const count of [0, 1, 1_024, 5_000]) {
      const ids = Array.from({ length: count }, (_, index) => `${(index * 7919) % 10_007}`);
      const rows = ids.map((id) => new Row({ id, slug: id, rev: 0, text: '', columns: {} }));
      const { positionOf, rankOf } = await orderIds(rows);
      assert.deepEqual(
        Array.from(positionOf, (position) => ids[position]),
        [...ids].sort(),
      );
      for (const [rank, position] of positionOf.entries()) assert.equal(rankOf[position], rank);
    }
  });
});
