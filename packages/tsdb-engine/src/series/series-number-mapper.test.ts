import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineProtocolParser } from '@plinth/tsdb-ingest/line-protocol-parser.js';
import type { ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import { SeriesIndex } from './series-index.js';
import { SeriesNumberMapper } from './series-number-mapper.js';

const OPTIONS = { database: 'd', precision: 'nanosecond', receivedNs: 0n } as const;

describe('SeriesNumberMapper', () => {
  it('restores the tags of series after the table was replaced', () => {
    const parser = new LineProtocolParser();
    const series = new SeriesNumberMapper(0);
    const read = (text: string): ParsedTable => {
      const [table] = parser.parse(Buffer.from(text), OPTIONS).tables;
      assert.ok(table !== undefined);
      series.addTagSets([table]);
      return table;
    };
    const hosts = (table: ParsedTable, tableId: number, index: SeriesIndex, rows: number[]) => {
      const numbers = Uint32Array.from(rows, (row) => table.seriesNumbers[row] ?? 0);
      series.translate({ table, tableId, seriesNumbers: numbers, index });
      return [...numbers].map((ordinal) => index.tagsOf(ordinal));
    };
    const tags = (host: string) => ({ keys: ['a', 'host'], values: ['ä', host] });
    const table = read('m,host=x,a=ä v=1\nm,host=y,a=ä v=1\nm,a=ä,host=z v=1\n');
    const first = new SeriesIndex(1n);
    assert.deepEqual(hosts(table, 1, first, [0, 1]), [tags('x'), tags('y')]);
    const second = new SeriesIndex(2n);
    assert.deepEqual(hosts(table, 2, second, [1, 0]), [tags('y'), tags('x')]);
    const later = read('m,host=z,a=ä v=2\nm,host=w,a=ä v=2\n');
    assert.deepEqual(hosts(later, 2, second, [0, 1]), [tags('z'), tags('w')]);
    assert.deepEqual(hosts(table, 2, second, [2]), [tags('z')]);
    const third = new SeriesIndex(3n);
    assert.deepEqual(hosts(table, 3, third, [2, 1, 0]), [tags('z'), tags('y'), tags('x')]);
    assert.equal(third.count, 3);
  });
});
