import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { runThrough } from '../../../model/steps.js';
import { pickedCount, SmallestTexts } from './smallest-texts.js';

describe('the smallest texts', () => {
  it('are the first of all in the order of their bytes, each once', () => {
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

  it('are picked where LIMIT and OFFSET leave few', () => {
    assert.equal(pickedCount({ limit: 1 }), 1);
    assert.equal(pickedCount({ limit: 10, offset: 90 }), 100);
    assert.equal(pickedCount({ limit: 10, offset: 1_000_000 }), undefined);
    assert.equal(pickedCount({ offset: 3 }), undefined);
    assert.equal(pickedCount({ limit: 0 }), undefined, 'no limit in InfluxQL');
  });
});
