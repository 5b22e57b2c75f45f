import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SeriesFile } from '@plinth/tsdb-model/segment.js';
import { chooseSeriesFiles } from './merge-series-files.js';

const file = (id: number, seriesCount: number): SeriesFile => ({
  id: `${id}`,
  tableId: 1,
  objectName: `tsdb/t/${id}.parquet`,
  seriesCount,
  sizeBytes: seriesCount * 10,
  checksum: 0,
});

/**
 * Returns the maximum number of files that exist at the same time, and the number of series that
 * the merges wrote.
 */
function afterFlushes(counts: readonly number[]): { most: number; written: number } {
  let files: readonly SeriesFile[] = [];
  let [most, written, id] = [0, 0, 0];
  for (const count of counts) {
    files = [...files, file(id++, count)];
    for (let chosen = chooseSeriesFiles(files, () => false); chosen.length > 0; ) {
      const sum = chosen.reduce((total, each) => total + each.seriesCount, 0);
      const inputs = new Set(chosen);
      files = [...files.filter((each) => !inputs.has(each)), file(id++, sum)];
      written += sum;
      chosen = chooseSeriesFiles(files, () => false);
    }
    most = Math.max(most, files.length);
  }
  return { most, written };
}

it('keeps at most ten series files after 1,000 flushes and rewrites each series a few times', () => {
  const one = afterFlushes(Array.from({ length: 1000 }, () => 1));
  assert.ok(one.most <= 10, `${one.most} files`);
  assert.ok(one.written <= 1000 * 6, `${one.written} series`);
  // Stores a million series first, then a few at a time. These must not cause a rewrite of the
  // large file.
  const few = afterFlushes([1_000_000, ...Array.from({ length: 1000 }, (_, i) => 1 + (i % 9))]);
  assert.ok(few.most <= 10, `${few.most} files`);
  assert.ok(few.written <= 5000 * 6, `${few.written} series`);
  const falling = afterFlushes(Array.from({ length: 30 }, (_, i) => 2 ** (30 - i)));
  assert.ok(falling.most <= 10, `${falling.most} files`);
});

it('skips unreadable series files', () => {
  const files = Array.from({ length: 11 }, (_, i) => file(i, 1));
  assert.equal(chooseSeriesFiles(files, ({ id }) => id === '4').length, 10);
  assert.deepEqual(
    chooseSeriesFiles(files, ({ id }) => id !== '4'),
    [],
  );
});
