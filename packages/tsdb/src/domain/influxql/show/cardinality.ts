import { tsdbError } from '../../../errors.js';
import { compareByteOrder } from '../../../model/byte-order.js';
import { type Answer, listAnswer } from '../answer.js';
import type { CardinalityOf, ShowCardinality, ShowSeries } from '../ast/statements.js';
import type { Session } from '../execute/session.js';
import type { TableSource } from '../plan/compile/source.js';
import { splitCondition } from '../plan/condition/split-condition.js';
import { keyTest } from './key-test.js';
import { matchingTagSets, tagKeys } from './tag-sets.js';

/** Series as line protocol writes them, ascending. */
export async function seriesKeys(
  show: Pick<ShowSeries, 'condition'>,
  tables: readonly TableSource[],
  session: Session,
): Promise<string[]> {
  const keys: string[] = [];
  for (const source of tables) {
    const tags = tagKeys(source).sort(compareByteOrder);
    for (const set of await matchingTagSets(source, show.condition, session)) {
      let key = source.name.replace(/[, ]/g, '\\$&');
      for (const tag of tags) {
        const value = set(tag);
        if (value !== undefined) key += `,${escaped(tag)}=${escaped(value)}`;
      }
      keys.push(key);
    }
  }
  return keys.sort(compareByteOrder);
}

const escaped = (text: string): string => text.replace(/[,= ]/g, '\\$&');

/** `SHOW ... CARDINALITY`: all are counted exactly, estimates are only named so. */
export async function runCardinality(
  show: ShowCardinality,
  tables: readonly TableSource[],
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
  for (const source of tables)
    counts.push({ name: source.name, count: await countOf(show, source, session) });
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
  source: TableSource,
  session: Session,
): Promise<number> {
  if (show.of === 'field_key') {
    return [...source.table.columns.values()].filter(
      ({ kind }) => kind !== 'tag' && kind !== 'time',
    ).length;
  }
  const sets = await matchingTagSets(source, show.condition, session);
  const keys = tagKeys(source);
  switch (show.of) {
    case 'series':
    case 'measurement': {
      let count = 0;
      for (const _ of sets) count++;
      return count;
    }
    case 'tag_key': {
      const seen = new Set<string>();
      for (const set of sets) for (const key of keys) if (set(key) !== undefined) seen.add(key);
      return seen.size;
    }
    case 'tag_values': {
      const isWanted = show.keys === undefined ? () => true : keyTest(show.keys);
      const wanted = keys.filter(isWanted);
      const seen = new Set<string>();
      for (const set of sets) {
        for (const key of wanted) {
          const value = set(key);
          if (value !== undefined) seen.add(`${key}\0${value}`);
        }
      }
      return seen.size;
    }
  }
}
