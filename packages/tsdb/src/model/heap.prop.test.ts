import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { Heap } from './heap.js';

it('a heap hands out its items in order, whatever is put in place of the top meanwhile', () => {
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
