import { tsdbError } from '../../../errors.js';
import { compareByteOrder } from '../../../model/byte-order.js';
import { type Answer, listAnswer } from '../answer.js';
import type { CardinalityOf, ShowCardinality, ShowSeries } from '../ast/statements.js';
import type { Session } from '../execute/session.js';
import type { TableSource } from '../plan/compile/source.js';
import { splitCondition } from '../plan/condition/split-condition.js';
import { typeOfKind } from '../plan/data-type.js';
import { keyTest } from './key-test.js';
import { matchingTagSets, tagKeys } from './tag-sets.js';

/** The tables of one measurement: one in each policy that has it. */
export interface NamedTables {
  readonly name: string;
  readonly tables: readonly TableSource[];
}

/** Series as line protocol writes them, ascending. */
export async function seriesKeys(
  show: Pick<ShowSeries, 'condition'>,
  measurements: readonly NamedTables[],
  session: Session,
): Promise<string[]> {
  const keys = new Set<string>();
  for (const source of measurements.flatMap(({ tables }) => tables)) {
    const tags = tagKeys(source).sort(compareByteOrder);
    for (const set of await matchingTagSets(source, show.condition, session)) {
      let key = source.name.replace(/[, ]/g, '\\$&');
      for (const tag of tags) {
        const value = set(tag);
        if (value !== undefined) key += `,${escaped(tag)}=${escaped(value)}`;
      }
      keys.add(key);
    }
  }
  return [...keys].sort(compareByteOrder);
}

/** Fields and their types, ascending by name; a field may have another type in another policy. */
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

const escaped = (text: string): string => text.replace(/[,= ]/g, '\\$&');

/** `SHOW ... CARDINALITY`: all are counted exactly, estimates are only named so. */
export async function runCardinality(
  show: ShowCardinality,
  measurements: readonly NamedTables[],
  session: Session,
): Promise<Answer> {
  checkTime(show, session);
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
    counts.push({ name: measurement.name, count: await countOf(show, measurement, session) });
  const used = counts.filter(({ count }) => count > 0);
  if (show.of === 'measurement' && (isEstimate || used.length > 0)) {
    return listAnswer([column], [{ name: '', rows: [[BigInt(used.length)]] }]);
  }
  if (isEstimate) {
    const total = used.reduce((sum, { count }) => sum + count, 0);
    return listAnswer([column], [{ name: '', rows: [[BigInt(total)]] }]);
  }
  return listAnswer(
    [column],
    used.map(({ name, count }) => ({ name, rows: [[BigInt(count)]] })),
  );
}

/** Series are counted without their rows; only values of tags can be those of a range of time. */
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
  measurement: NamedTables,
  session: Session,
): Promise<number> {
  const { tables } = measurement;
  if (show.of === 'field_key') return new Set(fieldsOf(tables).map(({ name }) => name)).size;
  if (show.of === 'series' || show.of === 'measurement') {
    if (tables.length > 1) return (await seriesKeys(show, [measurement], session)).length;
    let count = 0;
    for (const source of tables) {
      for (const _ of await matchingTagSets(source, show.condition, session)) count++;
    }
    return count;
  }
  const isWanted = show.keys === undefined ? () => true : keyTest(show.keys);
  const seen = new Set<string>();
  for (const source of tables) {
    const keys = tagKeys(source).filter(isWanted);
    for (const set of await matchingTagSets(source, show.condition, session)) {
      for (const key of keys) {
        const value = set(key);
        if (value !== undefined) seen.add(show.of === 'tag_key' ? key : `${key}\0${value}`);
      }
    }
  }
  return seen.size;
}
