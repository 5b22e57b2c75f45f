import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { TextSizes } from './text-sizes.js';

const TEXT = { id: 3, name: 't', kind: 'utf8', physicalName: 't' } as const;
const OTHER = { id: 4, name: 'u', kind: 'utf8', physicalName: 'u' } as const;
const columns = new Map([TEXT, OTHER].map((column) => [column.name, column]));
const table = { columns } as unknown as TableSchema;

const batch = (column: typeof TEXT | typeof OTHER, sizes: readonly number[]): RowBatch => {
  // Does not start at 0: strings are usually slices of a request body.
  const offsets = new Uint32Array(sizes.length + 1).fill(7);
  sizes.forEach((size, row) => {
    offsets[row + 1] = (offsets[row] as number) + size;
  });
  const bytes = new Uint8Array(offsets.at(-1) as number);
  const data = { type: 'utf8', offsets, bytes } as const;
  const rowCount = sizes.length;
  const times = new BigInt64Array(rowCount);
  const fields = [{ column, data, validity: undefined }];
  return { rowCount, seriesOrdinals: new Uint32Array(rowCount), times, fields };
};

describe('TextSizes', () => {
  it('returns the written sizes of the requested columns', () => {
    const sizes = new TextSizes();
    sizes.noteWritten(batch(TEXT, [100, 300]));
    sizes.noteWritten(batch(OTHER, [5000]));
    assert.equal(sizes.rowBytes({ table, columns: ['t'] }, 3), 200);
    assert.equal(sizes.rowBytes({ table, columns: ['t', 'u'] }, 3), 5200);
    assert.equal(sizes.rowBytes({ table, columns: ['time'] }, 3), 0);
  });

  it('grows immediately with longer strings and shrinks slowly', () => {
    const sizes = new TextSizes();
    for (const size of [10, 1000, 10]) sizes.noteWritten(batch(TEXT, [size]));
    assert.equal(sizes.rowBytes({ table, columns: ['t'] }, 3), 990);
    for (let count = 0; count < 1000; count++) sizes.noteWritten(batch(TEXT, [10]));
    assert.equal(sizes.rowBytes({ table, columns: ['t'] }, 3), 10);
  });

  it('is undefined for older rows until some were read', () => {
    const sizes = new TextSizes();
    sizes.noteWritten(batch(TEXT, [10]));
    assert.equal(sizes.rowBytes({ table, columns: ['t'] }, 2), undefined);
    sizes.noteRead({ columns: ['t'] }, 70);
    assert.equal(sizes.rowBytes({ table, columns: ['t'] }, 2), 70);
    assert.equal(sizes.rowBytes({ table, columns: ['u'] }, 2), undefined);
  });

  it('remembers a limited number of column sets', () => {
    const sizes = new TextSizes();
    for (let index = 0; index <= 64; index++) sizes.noteRead({ columns: [`${index}`] }, 70);
    assert.equal(sizes.rowBytes({ table, columns: ['0'] }, 2), undefined);
    assert.equal(sizes.rowBytes({ table, columns: ['64'] }, 2), 70);
  });
});
