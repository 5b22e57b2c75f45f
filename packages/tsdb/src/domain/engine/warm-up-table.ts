import type { Column } from '../../model/column.js';
import type { RowBatch } from '../../model/row-batch.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import type { SeriesIndex } from './series-index.js';

export const HOST_COUNT = 24;
const ROWS_PER_HOST = 360;
const INTERVAL_MS = 10_000;
export const START_MS = 1_700_000_000_000;

/** Whole numbers and measured ones, as most tables have. */
export const FIELD_NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const isWhole = (field: string): boolean => field < 'h';
const TAG_NAMES = ['arch', 'host', 'region', 'team'];

export const hostName = (number: number): string => `host-${number}`;

const columns = [
  ...TAG_NAMES.map((name) => ({ name, kind: 'tag' as const })),
  { name: 'time', kind: 'time' as const },
  ...FIELD_NAMES.map((name) => ({ name, kind: isWhole(name) ? 'int64' : 'float64' }) as const),
].map((column, id): Column => ({ ...column, id: id + 1, physicalName: column.name }));

/** Belongs to no database and is never stored: no table of the catalog has its number. */
export const WARM_UP_TABLE: TableSchema = {
  id: -1,
  uuid: '00000000-0000-7000-8000-000000000000',
  databaseId: -1,
  name: 't',
  columns: new Map(columns.map((each) => [each.name, each])),
  seriesKey: TAG_NAMES,
  seriesSeed: 1n,
  version: 1,
  retentionNs: undefined,
};

export const WARM_UP_DATABASE: DatabaseSchema = {
  id: -1,
  uuid: WARM_UP_TABLE.uuid,
  name: 'warm-up',
  retentionNs: undefined,
  tables: new Map([[WARM_UP_TABLE.name, WARM_UP_TABLE]]),
};

/** An hour of all hosts. */
export function warmUpRows(index: SeriesIndex): RowBatch {
  const rowCount = HOST_COUNT * ROWS_PER_HOST;
  const series = new Uint32Array(rowCount);
  const times = new BigInt64Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const host = row % HOST_COUNT;
    const tags = ['x64', hostName(host), `region-${host % 3}`, host % 2 === 0 ? 'red' : 'blue'];
    series[row] = index.resolve(TAG_NAMES, tags);
    times[row] = BigInt(START_MS + Math.floor(row / HOST_COUNT) * INTERVAL_MS) * 1_000_000n;
  }
  const fields = columns.flatMap((column, place) => {
    if (column.kind !== 'int64' && column.kind !== 'float64') return [];
    const numberAt = (row: number): number => (row * 7 + place * 13) % 100;
    const data =
      column.kind === 'int64'
        ? {
            type: column.kind,
            values: new BigInt64Array(rowCount).map((_, row) => BigInt(numberAt(row))),
          }
        : {
            type: column.kind,
            values: new Float64Array(rowCount).map((_, row) => numberAt(row) / 8),
          };
    return [{ column, data, validity: undefined }];
  });
  return { rowCount, series, times, fields };
}
