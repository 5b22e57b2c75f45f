import { isSameType } from '@plinth/tsdb-model/sql-type.js';
import { convert } from '../../bind/expr/convert.js';
import type { BoundQuery, QueryColumn, QueryEnv } from '../../bind/session.js';
import type { Bound } from '../../bind/types/bound.js';

/** Returns the query with its columns converted to the types of `columns`. */
export function retyped(
  query: BoundQuery,
  columns: readonly QueryColumn[],
  around: QueryEnv,
): string {
  const areSame = query.columns.every((column, index) =>
    isSameType(column.type, columns[index]?.type ?? column.type),
  );
  if (areSame) return query.text;
  const name = around.session.newName('r');
  const items = query.columns.map((column, index) => {
    const source: Bound = {
      text: `${name}.${column.duckDbName}`,
      type: column.type,
      displayName: column.name,
      hasAggregate: false,
      hasWindow: false,
    };
    return `${convert(source, columns[index]?.type ?? column.type).text} AS c${index}`;
  });
  return `SELECT ${items.join(', ')} FROM (${query.text}) AS ${name}`;
}
