import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TextBytes } from './text-bytes.js';

describe('integers as bytes', () => {
  it('are written in decimal', () => {
    const numbers = [...Array(1001).keys(), -1, -999, 2 ** 31, Number.MAX_SAFE_INTEGER];
    const out = new TextBytes();
    for (const number of numbers) {
      out.ascii(',');
      out.whole(number);
    }
    assert.equal(out.take().toString(), numbers.map((number) => `,${number}`).join(''));
  });
});
