import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import fc from 'fast-check';
import { Heap } from './heap.js';
import { pickedCount, SmallestTexts } from './smallest-texts.js';

describe('SmallestTexts', () => {
  it('returns the first distinct strings in byte order', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}', '\uffee') });
    fc.assert(
      fc.property(fc.array(text), fc.integer({ min: 1, max: 9 }), (texts, count) => {
        const smallest = new SmallestTexts(count);
        for (const each of texts) smallest.add(each);
        const expected = [...new Set(texts)].sort((a, b) =>
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
        );
        assert.deepEqual(runThrough(smallest.sorted()), expected.slice(0, count));
      }),
    );
  });

  it('is used if LIMIT and OFFSET select few rows', () => {
    assert.equal(pickedCount({ limit: 1 }), 1);
    assert.equal(pickedCount({ limit: 10, offset: 90 }), 100);
    assert.equal(pickedCount({ limit: 10, offset: 1_000_000 }), undefined);
    assert.equal(pickedCount({ offset: 3 }), undefined);
    assert.equal(pickedCount({ limit: 0 }), undefined, 'no limit in InfluxQL');
  });
});

it('a heap returns its items in order while items are added and its top is replaced', () => {
  const operation = fc.oneof(
    fc.record({ kind: fc.constantFrom('push', 'replace'), value: fc.integer() }),
    fc.constant({ kind: 'pop', value: 0 }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const heap = new Heap<number>((a, b) => a < b);
      let expected: number[] = [];
      for (const { kind, value } of operations) {
        if (kind === 'pop') {
          heap.pop();
          expected.shift();
        } else if (kind === 'replace' && expected.length > 0) {
          heap.replaceTop(value);
          expected = [...expected.slice(1), value];
        } else {
          heap.push(value);
          expected.push(value);
        }
        expected.sort((a, b) => a - b);
        assert.equal(heap.size, expected.length);
        assert.equal(heap.top, expected[0]);
      }
    }),
  );
});
