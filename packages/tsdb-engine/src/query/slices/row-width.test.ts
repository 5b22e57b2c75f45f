import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RowWidth } from './row-width.js';

const INT = { type: { kind: 'time' } } as const;
const TEXT = { type: { kind: 'utf8' } } as const;

describe('RowWidth', () => {
  it('is exact for columns of fixed size', () => {
    assert.equal(new RowWidth([INT, INT], undefined).bytes, 24);
    assert.equal(new RowWidth([], undefined).bytes, 1);
  });

  it('uses the stored string sizes, and is undefined without any', () => {
    assert.equal(new RowWidth([INT, TEXT], undefined).bytes, undefined);
    assert.equal(new RowWidth([INT, TEXT], 5000).bytes, 12 + 64 + 5000);
  });

  it('uses the sizes of the strings seen', () => {
    const width = new RowWidth([INT, TEXT], undefined);
    assert.equal(width.seenStringBytes, undefined);
    const numbers = { values: new BigInt64Array(40), validity: undefined };
    const texts = { values: Array.from({ length: 40 }, () => 'x'.repeat(84)), validity: undefined };
    const sizeBytes = width.see({ rowCount: 40, columns: [numbers, texts] });
    assert.equal(sizeBytes, 40 * (12 + 100));
    assert.equal(width.bytes, 12 + 100);
    assert.equal(width.seenStringBytes, 100);
  });

  it('adapts immediately to longer strings and soon to shorter ones', () => {
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
