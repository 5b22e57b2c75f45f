import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { CardinalityOf, ShowCardinality } from '../ast/statements.js';
import type { Session } from '../execute/session.js';
import type { TableSource } from '../plan/compile/source.js';
import { splitCondition } from '../plan/condition/split-condition.js';
import { typeOfKind } from '../plan/data-type.js';
import { listResult, type StatementResult } from '../result.js';
import { FoundValues } from './found-values.js';
import { keyTest } from './key-test.js';
import { matchingSeries, type SeriesReading } from './matching-series.js';
import { seriesKeys } from './series-keys.js';

/** The tables of one measurement, one per policy that contains it. */
export interface NamedTables {
  readonly name: string;
  readonly tables: readonly TableSource[];
}

/** Returns fields and types, ascending by name. A field may have several types across policies. */
export function fieldsOf(
  tables: readonly TableSource[],
): readonly { readonly name: string; readonly type: string }[] {
  const fields = new Map<string, { name: string; type: string }>();
  for (const { name, kind } of tables.flatMap(({ table }) => [...table.columns.values()])) {
    if (kind === 'tag' || kind === 'time') continue;
    const type = typeOfKind(kind);
    fields.set(`${type} ${name}`, { name, type });
  }
  return [...fields.values()].sort((a, b) => compareByteOrder(a.name, b.name));
}

/** Runs `SHOW ... CARDINALITY`. Counts are always exact, even where InfluxDB estimates. */
export async function runCardinality(
  show: ShowCardinality,
  measurements: readonly NamedTables[],
  reading: SeriesReading,
): Promise<StatementResult> {
  checkTime(show, reading.session);
  const isEstimate =
    !show.exact &&
    (show.of === 'series' || show.of === 'measurement') &&
    show.sources.length === 0 &&
    show.condition === undefined &&
    show.dimensions.length === 0;
  const column = {
    name: isEstimate ? 'cardinality estimation' : 'count',
    type: 'integer' as const,
  };
  const counts: { name: string; count: number }[] = [];
  for (const measurement of measurements)
    counts.push({ name: measurement.name, count: await countOf(show, measurement, reading) });
  const used = counts.filter(({ count }) => count > 0);
  if (show.of === 'measurement' && (isEstimate || used.length > 0)) {
    return listResult([column], [{ name: '', rows: [[BigInt(used.length)]] }]);
  }
  if (isEstimate) {
    const total = used.reduce((sum, { count }) => sum + count, 0);
    return listResult([column], [{ name: '', rows: [[BigInt(total)]] }]);
  }
  return listResult(
    [column],
    used.map(({ name, count }) => ({ name, rows: [[BigInt(count)]] })),
  );
}

/** Rejects a time condition, except for tag values; series are counted without reading rows. */
function checkTime({ of, condition }: ShowCardinality, { nowNs }: Session): void {
  const what = WITHOUT_TIME[of];
  if (what === undefined) return;
  const { range } = splitCondition(condition, { nowNs, zone: undefined });
  if (range.min === undefined && range.max === undefined) return;
  throw tsdbError('plan_error', `SHOW ${what} CARDINALITY doesn't support time in WHERE clause`);
}

const WITHOUT_TIME: Readonly<Record<CardinalityOf, string | undefined>> = {
  series: 'SERIES EXACT',
  measurement: 'MEASUREMENT EXACT',
  tag_key: 'TAG KEY EXACT',
  field_key: 'FIELD KEY',
  tag_values: undefined,
};

async function countOf(
  show: ShowCardinality,
  { tables }: NamedTables,
  reading: SeriesReading,
): Promise<number> {
  if (show.of === 'field_key') return new Set(fieldsOf(tables).map(({ name }) => name)).size;
  const split = splitCondition(show.condition, { nowNs: reading.session.nowNs, zone: undefined });
  if (show.of === 'series' || show.of === 'measurement') {
    let count = 0;
    const [only] = tables;
    const pieces =
      tables.length === 1 && only !== undefined
        ? matchingSeries(only, split, reading)
        : seriesKeys({ ...(show.condition && { condition: show.condition }) }, tables, reading);
    for await (const { length } of pieces) count += length;
    return count;
  }
  const found = new FoundValues();
  const isWanted = show.keys === undefined ? () => true : keyTest(show.keys);
  for (const source of tables) await found.add(source, isWanted, { split, reading });
  let count = 0;
  for (const key of found.keys) {
    const valueCount = await reading.task.run(found.count(key));
    count += show.of === 'tag_key' ? Math.min(1, valueCount) : valueCount;
  }
  return count;
}
