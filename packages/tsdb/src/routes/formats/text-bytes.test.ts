import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Piece, TextBytes } from './text-bytes.js';

describe('whole numbers as bytes', () => {
  it('are written in their decimal digits up to three of them, one by one', () => {
    for (let number = 1; number < 1000; number++) {
      const out = new TextBytes();
      assert.ok(out.shortWhole(number));
      assert.equal(out.take().toString(), String(number));
    }
  });

  it('are written in their decimal digits in rows of columns', () => {
    const numbers = [...Array(1001).keys(), -1, -999, 2 ** 31, Number.MAX_SAFE_INTEGER];
    const column = {
      ...{ values: Float64Array.from(numbers), validity: undefined },
      ...{ lead: new Piece(','), ofNull: new Piece(',null') },
    };
    const out = new TextBytes();
    for (const row of numbers.keys()) out.wholes([column], row);
    assert.equal(out.take().toString(), numbers.map((number) => `,${number}`).join(''));
  });

  it('are left to others beyond three digits and below one', () => {
    const out = new TextBytes();
    for (const number of [0, -0, -1, 1000, 1.5, Number.NaN])
      assert.equal(out.shortWhole(number), false);
    assert.equal(out.size, 0);
  });
});
