import type { Language } from '../macros.js';

/** How the builder combines the values of a field in each bucket. */
export const AGGREGATES = ['avg', 'min', 'max', 'sum', 'count', 'last', 'p95', 'rate'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

/** The operators of both languages. */
const COMPARISONS = ['=', '!=', '<', '<=', '>', '>='] as const;
export const OPERATORS = [...COMPARISONS, 'LIKE', 'IS NULL', 'IS NOT NULL'] as const;
export type Operator = (typeof OPERATORS)[number];

export const operatorsOf = (language: Language): readonly Operator[] =>
  language === 'sql' ? OPERATORS : COMPARISONS;

export const takesValue = (operator: Operator): boolean => !operator.startsWith('IS ');

export interface BuilderField {
  readonly name: string;
  readonly aggregate: Aggregate;
}

export interface BuilderCondition {
  readonly column: string;
  readonly operator: Operator;
  /** A SQL literal, also for InfluxQL; empty for operators without a value. */
  readonly literal: string;
}

/** A query that the builder of Explore can show and write. */
export interface BuilderQuery {
  readonly table: string;
  /** At least one. */
  readonly fields: readonly BuilderField[];
  readonly conditions: readonly BuilderCondition[];
  /** Columns whose values are separate series. */
  readonly groupBy: readonly string[];
  /** The bucket width as in `10 seconds`; `auto` follows the time range, an empty string means one bucket for it. */
  readonly every: string;
}

export const EVERY_AUTO = 'auto';
/** Column name of the time of a bucket's last row, from which a rate is computed. */
export const LAST_TIME = 'last_time';

/** Returns whether the query contains a rate. A rate compares buckets, so it requires several of them. */
export const hasRate = ({ fields, every }: BuilderQuery): boolean =>
  every !== '' && fields.some(({ aggregate }) => aggregate === 'rate');

/**
 * Returns unique names of the result columns: the field if it occurs once, otherwise with the aggregate. The units of
 * counts and rates differ from that of the field, so their names always contain the aggregate.
 */
export function aliasesOf({ fields, groupBy }: BuilderQuery): readonly string[] {
  const taken = new Set(['time', LAST_TIME, ...groupBy]);
  return fields.map(({ name, aggregate }) => {
    const isOnce = fields.filter((each) => each.name === name).length === 1;
    const hasOwnUnit = aggregate === 'count' || aggregate === 'rate';
    const wanted = isOnce && !hasOwnUnit ? name : `${name}_${aggregate}`;
    let alias = wanted;
    for (let count = 2; taken.has(alias); count++) alias = `${wanted}_${count}`;
    taken.add(alias);
    return alias;
  });
}

interface BuilderTable {
  readonly name: string;
  readonly series_key: readonly string[];
  readonly columns: readonly { readonly name: string; readonly kind: string }[];
}

const NUMERIC: ReadonlySet<string> = new Set(['float64', 'int64', 'uint64']);

export const aggregatesOf = (kind: string): readonly Aggregate[] =>
  NUMERIC.has(kind) ? AGGREGATES : ['count', 'last'];

export const fieldsOf = ({ columns }: BuilderTable): BuilderTable['columns'] =>
  columns.filter(({ kind }) => kind !== 'tag' && kind !== 'time');

/**
 * Returns a query for the first field over time, with a line for each series. `undefined` if the table has no fields.
 */
export function startQuery(table: BuilderTable): BuilderQuery | undefined {
  const fields = fieldsOf(table);
  const field = fields.find(({ kind }) => NUMERIC.has(kind)) ?? fields[0];
  if (field === undefined) return undefined;
  const aggregate = aggregatesOf(field.kind)[0] ?? 'count';
  return {
    table: table.name,
    fields: [{ name: field.name, aggregate }],
    conditions: [],
    groupBy: table.series_key,
    every: EVERY_AUTO,
  };
}

/** Returns the same query for another table, without columns that this table does not have. */
export function withTable(query: BuilderQuery, table: BuilderTable): BuilderQuery | undefined {
  const start = startQuery(table);
  if (start === undefined) return undefined;
  const has = (name: string): boolean => table.columns.some((column) => column.name === name);
  const fields = query.fields.filter(({ name }) => has(name));
  return {
    ...query,
    table: table.name,
    fields: fields.length === 0 ? start.fields : fields,
    conditions: query.conditions.filter(({ column }) => has(column)),
    groupBy: query.groupBy.some(has) ? query.groupBy.filter(has) : start.groupBy,
  };
}
