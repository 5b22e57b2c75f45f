import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RowWidth } from './row-width.js';

const INT = { type: { kind: 'time' } } as const;
const TEXT = { type: { kind: 'utf8' } } as const;

describe('the width of rows', () => {
  it('is known where no value can be long', () => {
    assert.equal(new RowWidth([INT, INT]).bytes, 24);
    assert.equal(new RowWidth([]).bytes, 1);
  });

  it('is that of the texts that came, and a guess before', () => {
    const width = new RowWidth([INT, TEXT]);
    assert.equal(width.bytes, 12 + 1024);
    const numbers = { values: new BigInt64Array(40), validity: undefined };
    const texts = { values: Array.from({ length: 40 }, () => 'x'.repeat(84)), validity: undefined };
    width.see({ rowCount: 40, columns: [numbers, texts] });
    assert.equal(width.bytes, 12 + 100);
  });
});
