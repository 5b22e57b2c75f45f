import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SeriesIndex } from './series-index.js';
import { SeriesTagDecoder } from './series-tag-decoder.js';

const SERIES_COUNT = 3000;
const ROWS_OF_CHUNK = 2048;

it('returns the tags of the series for every row, with few and many series', () => {
  const index = new SeriesIndex(7n);
  const series = Array.from({ length: SERIES_COUNT }, (_, i) => {
    const region = i % 5 === 0 ? [] : [`r${i % 5}`];
    const keys = ['host', ...region.map(() => 'region')];
    const id = index.idOf(index.resolve(keys, [`host ${i}`, ...region]));
    return { id, host: `host ${i}`, region: region[0] };
  });
  const tags = new SeriesTagDecoder(index, [
    { columnIndex: 1, tag: 'region' },
    { columnIndex: 2, tag: 'host' },
  ]);
  for (let from = 0; from < SERIES_COUNT * 3; from += ROWS_OF_CHUNK) {
    const rows = Array.from({ length: ROWS_OF_CHUNK }, (_, i) => {
      const row = series[((from + i) * 7) % SERIES_COUNT];
      assert.ok(row);
      return row;
    });
    const numbers = { values: new Float64Array(ROWS_OF_CHUNK), validity: undefined };
    const { columns } = tags.decode({
      rowCount: ROWS_OF_CHUNK,
      columns: [
        numbers,
        { values: BigInt64Array.from(rows, ({ id }) => id), validity: undefined },
        { values: new Uint8Array(ROWS_OF_CHUNK), validity: undefined },
      ],
    });
    const [first, regions, hosts] = columns;
    assert.equal(first, numbers);
    assert.ok(regions && hosts);
    assert.equal(hosts.validity, undefined);
    rows.forEach(({ host, region }, row) => {
      assert.equal(hosts.values[row], host);
      const isPresent = ((regions.validity?.[row >> 3] ?? 255) & (1 << (row & 7))) !== 0;
      assert.equal(isPresent ? regions.values[row] : undefined, region);
    });
  }
});
