import { isSameType } from '@plinth/tsdb-model/sql-type.js';
import { convert } from '../../bind/expr/convert.js';
import type { BoundQuery, QueryColumn, QueryEnv } from '../../bind/session.js';
import type { Bound } from '../../bind/types/bound.js';
import { columnTree, plainSelect, treeOf } from '../../plan-tree.js';

/** Returns the query with its columns converted to the types of `columns`. */
export function retyped(
  query: BoundQuery,
  columns: readonly QueryColumn[],
  around: QueryEnv,
): Pick<BoundQuery, 'text' | 'tree'> {
  const areSame = query.columns.every((column, index) =>
    isSameType(column.type, columns[index]?.type ?? column.type),
  );
  if (areSame) return query;
  const name = around.session.newName('r');
  const items = query.columns.map((column, index) => {
    const { type, duckDbName } = column;
    const source: Bound = {
      text: `${name}.${duckDbName}`,
      tree: columnTree(name, duckDbName, type),
      type,
      displayName: column.name,
      hasAggregate: false,
      hasWindow: false,
    };
    return convert(source, columns[index]?.type ?? type);
  });
  const list = items.map(({ text }, index) => `${text} AS c${index}`);
  return {
    text: `SELECT ${list.join(', ')} FROM (${query.text}) AS ${name}`,
    tree: () =>
      plainSelect(items.map(treeOf), { kind: 'query', query: query.tree(), relation: name }),
  };
}
