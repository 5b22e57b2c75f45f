import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RowWidth } from './row-width.js';

const INT = { type: { kind: 'time' } } as const;
const TEXT = { type: { kind: 'utf8' } } as const;

describe('the width of rows', () => {
  it('is known where no value can be long', () => {
    assert.equal(new RowWidth([INT, INT], undefined).bytes, 24);
    assert.equal(new RowWidth([], undefined).bytes, 1);
  });

  it('is that of the texts that are stored, and not known where nobody has seen them', () => {
    assert.equal(new RowWidth([INT, TEXT], undefined).bytes, undefined);
    assert.equal(new RowWidth([INT, TEXT], 5000).bytes, 12 + 64 + 5000);
  });

  it('is that of the texts that came', () => {
    const width = new RowWidth([INT, TEXT], undefined);
    assert.equal(width.seenTextBytes, undefined);
    const numbers = { values: new BigInt64Array(40), validity: undefined };
    const texts = { values: Array.from({ length: 40 }, () => 'x'.repeat(84)), validity: undefined };
    const sizeBytes = width.see({ rowCount: 40, columns: [numbers, texts] });
    assert.equal(sizeBytes, 40 * (12 + 100));
    assert.equal(width.bytes, 12 + 100);
    assert.equal(width.seenTextBytes, 100);
  });

  it('follows longer texts at once, and shorter ones soon', () => {
    const width = new RowWidth([TEXT], 0);
    const see = (length: number): void => {
      width.see({
        rowCount: 1,
        columns: [{ values: ['x'.repeat(length - 16)], validity: undefined }],
      });
    };
    for (const length of [100, 100, 5000]) see(length);
    assert.equal(width.bytes, 5000);
    for (let count = 0; count < 10; count++) see(100);
    assert.ok((width.bytes ?? 0) < 110, `${width.bytes}`);
  });
});
