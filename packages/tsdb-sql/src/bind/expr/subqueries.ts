import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { valueType } from '@plinth/tsdb-model/sql-type.js';
import type { ExprNodes, Query } from '../../parse/ast.js';
import { columnTree, type Lazy, negatedIf, type QueryTree, treeOf } from '../../plan-tree.js';
import { Scope, type ScopeColumn } from '../scope.js';
import type { BoundQuery, ColumnUse, Env } from '../session.js';
import { BOOLEAN, type Bound, derive } from '../types/bound.js';
import { comparable } from './operators/comparison.js';

export function bindExists(node: ExprNodes['Exists'], env: Env): Bound {
  const query = inner(node.subquery, env);
  const keyword = node.negated ? 'NOT EXISTS' : 'EXISTS';
  return derive([], {
    text: `(${keyword} (${query.text}))`,
    tree: negatedIf(node.negated, () => ({ kind: 'exists', query: query.tree(), type: BOOLEAN })),
    type: BOOLEAN,
    displayName: keyword,
  });
}

export function bindScalarSubquery(subquery: Query, env: Env): Bound {
  const query = inner(subquery, env);
  const column = onlyColumn(query);
  return derive([], {
    text: `(${query.text})`,
    tree: () => ({ kind: 'subquery', query: query.tree(), type: valueType(column.type) }),
    type: valueType(column.type),
    displayName:
      column.qualifier === undefined ? column.name : `${column.qualifier}.${column.name}`,
  });
}

export function bindInSubquery(node: ExprNodes['InSubquery'], env: Env): Bound {
  const value = env.session.bindExpr(node.expr, env);
  const keyword = node.negated ? 'NOT IN' : 'IN';
  const { member, from, relation, tree: query } = memberOf(node.subquery, env);
  const [left, right] = comparable(value, keyword, member);
  return derive([value], {
    text: `(${left.text} ${keyword} (SELECT ${right.text} FROM ${from}))`,
    tree: negatedIf(node.negated, () => ({
      ...{ kind: 'in_query', value: treeOf(left), query: query(), member: treeOf(right), relation },
      type: BOOLEAN,
    })),
    type: BOOLEAN,
    displayName: `${value.displayName} ${keyword} (<subquery>)`,
  });
}

/** Returns the single column of a subquery and its FROM text. */
export function memberOf(
  subquery: Query,
  env: Env,
): {
  readonly member: Bound;
  readonly from: string;
  readonly relation: string;
  readonly tree: Lazy<QueryTree>;
} {
  const query = inner(subquery, env);
  const { type, duckDbName } = onlyColumn(query);
  const name = env.session.newName('q');
  const tree = columnTree(name, duckDbName, type);
  const member = derive([], {
    ...{ text: `${name}.${duckDbName}`, tree, type, displayName: '' },
  });
  return { member, from: `(${query.text}) AS ${name}`, relation: name, tree: query.tree };
}

function inner(query: Query, env: Env): BoundQuery {
  return env.session.bindQuery(query, {
    session: env.session,
    outer: outerScope(env),
    ctes: env.ctes,
    depth: env.depth + 1,
  });
}

/** After grouping, an inner query can name only grouped columns. */
function outerScope(env: Env): Scope {
  const { aggregation, scope, columnUse } = env;
  if (columnUse !== undefined) return watchedScope(scope, columnUse);
  if (aggregation === undefined) return scope;
  const columns = aggregation.keys.flatMap(({ input, output }) =>
    input.column === undefined
      ? []
      : [{ ...input.column, text: output.text, tree: output.tree, use: () => undefined }],
  );
  const relations = scope.relations.map(({ path }) => ({
    path,
    columns: columns.filter((column) => column.qualifier === path.at(-1)),
  }));
  return new Scope({ relations, visible: columns, parent: scope.parent });
}

/** Outer columns that an inner query names count as columns of the enclosing aggregate. */
function watchedScope({ relations, visible, parent }: Scope, columnUse: ColumnUse): Scope {
  const watched = (column: ScopeColumn): ScopeColumn => ({
    ...column,
    use: () => {
      columnUse.isLocal = true;
      column.use();
    },
  });
  return new Scope({
    relations: relations.map(({ path, columns, hidden }) => ({
      path,
      columns: columns.map(watched),
      ...(hidden && { hidden: hidden.map(watched) }),
    })),
    visible: visible.map(watched),
    parent,
  });
}

function onlyColumn(query: BoundQuery): BoundQuery['columns'][number] {
  const [column] = query.columns;
  if (column === undefined || query.columns.length !== 1) {
    throw tsdbError(
      'plan_error',
      'Error during planning: Too many columns! The subquery should only return one column: ' +
        query.columns.map((each) => each.name).join(', '),
    );
  }
  return column;
}
