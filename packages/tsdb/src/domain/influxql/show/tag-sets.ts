import { MAX_TIME_NS, MIN_TIME_NS } from '../../../model/scan.js';
import type { Expr } from '../ast/expressions.js';
import { rowPredicate } from '../execute/series/row-expr.js';
import { outputColumn, TableReader } from '../execute/series/table-reader.js';
import { vectorValues } from '../execute/series/vector-values.js';
import type { Session } from '../execute/session.js';
import type { TableSource } from '../plan/compile/source.js';
import { columnsOf } from '../plan/compile/source-columns.js';
import { buildFilter, type Filter, filterColumns } from '../plan/condition/filter.js';
import { type SplitCondition, splitCondition } from '../plan/condition/split-condition.js';

/** Tags of one series. */
export type TagSet = (tag: string) => string | undefined;

/** Tag names that series of a table have. */
export function tagKeys(source: TableSource): string[] {
  return [...source.table.columns.values()]
    .filter(({ kind }) => kind === 'tag')
    .map(({ name }) => name);
}

/** The series of a table that have a row which meets a condition; all without one. */
export async function matchingTagSets(
  source: TableSource,
  condition: Expr | undefined,
  session: Session,
): Promise<Iterable<TagSet>> {
  const split = splitCondition(condition, { nowNs: session.nowNs, zone: undefined });
  return await tagSetsWhere(source, split, session);
}

/** The same for a condition whose bounds of time were taken out of it. */
export async function tagSetsWhere(
  source: TableSource,
  { rest, range }: SplitCondition,
  session: Session,
): Promise<Iterable<TagSet>> {
  await session.indexed([source.table]);
  const filter = rest === undefined ? undefined : buildFilter(rest, columnsOf(source));
  const isOfTags = filter === undefined || filterColumns(filter).every(({ isTag }) => isTag);
  const { hasDeletions } = session.livenessOf(source.table);
  if (isOfTags && !hasDeletions && range.min === undefined && range.max === undefined) {
    return indexedTagSets(source, filter, session);
  }
  return await storedTagSets(
    source,
    filter,
    { min: range.min ?? MIN_TIME_NS, max: range.max ?? MAX_TIME_NS },
    session,
  );
}

/** False: all rows of the table were deleted. What was never written to counts as there. */
export async function hasRows(source: TableSource, session: Session): Promise<boolean> {
  if (!session.livenessOf(source.table).hasDeletions) return true;
  await session.indexed([source.table]);
  const reader = new TableReader(
    { source, filter: undefined, minNs: MIN_TIME_NS, maxNs: MAX_TIME_NS, groupTags: [] },
    session,
  );
  const where = reader.where();
  const scan = reader.scan();
  for await (const { rowCount } of session.read({
    scans: [scan],
    columns: [ONE],
    isSmall: true,
    render: (scanText) => `SELECT 1 AS g0 FROM ${scanText(0)} r${where} LIMIT 1`,
  })) {
    if (rowCount > 0) return true;
  }
  return false;
}

const ONE = {
  name: 'g0',
  type: { kind: 'int', bits: 32, signed: true },
  source: undefined,
} as const;

function* indexedTagSets(
  source: TableSource,
  filter: Filter | undefined,
  session: Session,
): Generator<TagSet, void, undefined> {
  const index = session.seriesOf(source.table);
  const refs = filter === undefined ? [] : filterColumns(filter);
  const isMet =
    filter === undefined
      ? undefined
      : rowPredicate(filter, (ref) => refs.findIndex(({ name }) => name === ref.name));
  const { visibleFromNs } = session.livenessOf(source.table);
  for (let dense = 0; dense < index.count; dense++) {
    if (index.lastTimeOf(dense) < visibleFromNs) continue;
    const values = refs.map(({ name }) => index.tagValue(dense, name) ?? null);
    if (isMet === undefined || isMet(values, 0n)) yield (tag) => index.tagValue(dense, tag);
  }
}

/** Conditions on time or fields are for the engine. */
async function storedTagSets(
  source: TableSource,
  filter: Filter | undefined,
  range: { readonly min: bigint; readonly max: bigint },
  session: Session,
): Promise<TagSet[]> {
  const tags = tagKeys(source);
  const reader = new TableReader(
    { source, filter, minNs: range.min, maxNs: range.max, groupTags: [] },
    session,
  );
  const list = tags.map((tag, i) => `${reader.name(tag)} AS g${i}`);
  const where = reader.where();
  const scan = reader.scan();
  const sets: TagSet[] = [];
  const columns = list.length === 0 ? ['1 AS g0'] : list;
  for await (const { rowCount, columns: vectors } of session.read({
    scans: [scan],
    columns: tags.length === 0 ? [ONE] : tags.map((_, i) => outputColumn(`g${i}`, 'tag')),
    isSmall: true,
    render: (scanText) => `SELECT DISTINCT ${columns.join(', ')} FROM ${scanText(0)} r${where}`,
  })) {
    const values = tags.map((_, i) =>
      vectorValues(vectors[i] as (typeof vectors)[number], rowCount, 'tag'),
    );
    for (let row = 0; row < rowCount; row++) {
      const set = new Map(tags.map((tag, i) => [tag, values[i]?.[row]]));
      sets.push((tag) => {
        const value = set.get(tag);
        return typeof value === 'string' ? value : undefined;
      });
    }
  }
  return sets;
}
