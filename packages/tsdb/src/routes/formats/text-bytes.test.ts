import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Piece, TextBytes } from './text-bytes.js';

describe('whole numbers as bytes', () => {
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
});
