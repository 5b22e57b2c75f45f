import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Row } from './row.js';

const makeRow = (value: string, index: number): Row =>
  new Row({ id: `i${index}`, slug: `s${index}`, rev: 1, text: JSON.stringify(value), columns: {} });

describe('Row', () => {
  it('has the same text in packed memory, and mentions what is in it and nothing else', () => {
    const values = fc.array(fc.string({ unit: 'binary' }), { minLength: 16, maxLength: 40 });
    fc.assert(
      fc.property(values, (texts) => {
        const rows = texts.map(makeRow);
        Row.pack(rows.slice(0, 20));
        Row.pack(rows);
        for (const [index, row] of rows.entries()) {
          const text = JSON.stringify(texts[index]);
          assert.equal(row.text, text);
          assert.equal(row.mentions(text), true);
          assert.equal(row.mentions(`${text}${JSON.stringify(texts[index + 1] ?? '')}`), false);
        }
      }),
      { numRuns: 50 },
    );
  });
});
