import { isSameType } from '@plinth/tsdb-model/sql-type.js';
import { convert } from '../bind/expr/convert.js';
import type { BoundQuery, QueryColumn, QueryEnv } from '../bind/session.js';
import { unverified } from '../plan-tree.js';

export interface SemiJoinInput {
  readonly op: 'Intersect' | 'Except';
  readonly isAll: boolean;
  readonly left: BoundQuery;
  readonly right: BoundQuery;
  /** Types in which rows are compared. */
  readonly columns: readonly QueryColumn[];
}

/**
 * Binds INTERSECT as a semi join and EXCEPT as an anti join, for sides with different types. The
 * result has unchanged rows of the left side, compared in the types of `columns`. Casting them to
 * these types and back would change some, such as timestamps in text form. Returns `undefined` if
 * DuckDB's own operator is suitable.
 */
export function bindSemiJoin(input: SemiJoinInput, around: QueryEnv): BoundQuery | undefined {
  const { op, isAll, left, right, columns } = input;
  const types = columns.map(({ type }) => type);
  const isLike = (side: BoundQuery) =>
    side.columns.every((column, index) => isSameType(column.type, types[index] ?? column.type));
  if (isLike(left)) return undefined;
  const [a, b] = [around.session.newName('l'), around.session.newName('r')];
  const same = types.map((_, index) => `${a}.k${index} IS NOT DISTINCT FROM ${b}.k${index}`);
  // With ALL, the n-th of equal rows on one side matches the n-th on the other.
  if (isAll) same.push(`${a}.n = ${b}.n`);
  const found = `EXISTS (SELECT 1 FROM (${withRowNumbers(right, columns, around)}) AS ${b} WHERE ${same.join(' AND ')})`;
  const condition = `${isAll ? '' : `${a}.n = 1 AND `}${op === 'Except' ? 'NOT ' : ''}${found}`;
  const items = left.columns.map((_, index) => `${a}.c${index} AS c${index}`).join(', ');
  return {
    text: `SELECT ${items} FROM (${withRowNumbers(left, columns, around)}) AS ${a} WHERE ${condition}`,
    tree: unverified(`${op.toUpperCase()} of different types`),
    columns: columns.map((column, index) => ({
      ...column,
      type: left.columns[index]?.type ?? column.type,
      duckDbName: `c${index}`,
    })),
    tableName: undefined,
    isUnordered: true,
  };
}

/** Selects rows with their comparison keys (`k0`, ...) and their number among equal rows (`n`). */
function withRowNumbers(
  side: BoundQuery,
  columns: readonly QueryColumn[],
  around: QueryEnv,
): string {
  const name = around.session.newName('s');
  const cells = side.columns.map((column) => `${name}.${column.duckDbName}`);
  const keys = side.columns.map(({ type, name: displayName }, index) => {
    const cell = { text: cells[index] ?? '', type, displayName };
    const bound = { ...cell, hasAggregate: false, hasWindow: false };
    return convert(bound, columns[index]?.type ?? type).text;
  });
  const items = [
    ...cells.map((cell, index) => `${cell} AS c${index}`),
    ...keys.map((key, index) => `${key} AS k${index}`),
    `row_number() OVER (PARTITION BY ${keys.join(', ')}) AS n`,
  ];
  return `SELECT ${items.join(', ')} FROM (${side.text}) AS ${name}`;
}
