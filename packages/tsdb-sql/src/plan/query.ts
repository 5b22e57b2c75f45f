import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Scope } from '../bind/scope.js';
import type { BoundQuery, Env, QueryColumn, QueryEnv } from '../bind/session.js';
import { NULL } from '../bind/types/bound.js';
import { unionType } from '../bind/types/common-type.js';
import type { OrderByExpr, Query, SetExpr, SetOperationNode } from '../parse/ast.js';
import { columnTree, plainSelect, treeOf, unverified } from '../plan-tree.js';
import { bindCommonTables } from './from/common-tables.js';
import { bindValues } from './from/values.js';
import {
  bindLimit,
  bindOrder,
  expandOrderByAll,
  isLimited,
  limitText,
  limitTree,
  NO_LIMIT,
  orderItems,
  positionOf,
  type RowLimit,
} from './select/order-limit.js';
import { retyped } from './select/retype.js';
import { bindSelect } from './select/select.js';
import { bindSemiJoin } from './semi-join.js';

/** Maximum nesting of queries; DuckDB's planner is recursive as well. */
const MAX_QUERY_DEPTH = 32;

export function bindQuery(query: Query, outside: QueryEnv): BoundQuery {
  if (outside.depth > MAX_QUERY_DEPTH) {
    throw tsdbError('not_implemented', `queries nested more than ${MAX_QUERY_DEPTH} levels deep`);
  }
  if (query.locks.length > 0) throw tsdbError('not_implemented', 'FOR UPDATE and FOR SHARE');
  const { prefix, trees, ctes } = bindCommonTables(query, outside);
  const around: QueryEnv = { ...outside, ctes };
  const order = orderItems(query);
  const limit = bindLimit(query, around);
  const bound =
    'Select' in query.body
      ? bindSelect(query.body.Select, { orderBy: order, limit }, around)
      : orderOutput(bindSetExpr(query.body, around), order, limit, around);
  if (prefix === '') return bound;
  const tree: BoundQuery['tree'] = () => ({
    ...{ kind: 'with', tables: trees.map((table) => table()), query: bound.tree() },
  });
  return { ...bound, text: `${prefix}${bound.text}`, tree };
}

function bindSetExpr(body: SetExpr, around: QueryEnv): BoundQuery {
  if ('Select' in body)
    return bindSelect(body.Select, { orderBy: [], limit: NO_LIMIT }, nested(around));
  if ('Query' in body) return bindQuery(body.Query, { ...around, depth: around.depth + 1 });
  if ('SetOperation' in body) return bindSetOperation(body.SetOperation, around);
  if ('Values' in body) return bindValues(body.Values, around);
  throw tsdbError(
    'not_implemented',
    `Query ${JSON.stringify(Object.keys(body))} not implemented yet`,
  );
}

/**
 * Parts of a set operation do not add depth, regardless of how many there are. Only the outermost query has
 * depth 0.
 */
function nested(around: QueryEnv): QueryEnv {
  return { ...around, depth: Math.max(1, around.depth) };
}

function bindSetOperation(node: SetOperationNode, around: QueryEnv): BoundQuery {
  const { op, set_quantifier: quantifier } = node;
  const isByName = quantifier.includes('ByName');
  if (isByName && op !== 'Union')
    throw tsdbError('not_implemented', `${op.toUpperCase()} BY NAME not implemented`);
  const sides = [node.left, node.right].map((side) => bindSetExpr(side, nested(around)));
  const [left, right] = (isByName ? alignedByName(sides, around) : sides) as [
    BoundQuery,
    BoundQuery,
  ];
  if (left.columns.length !== right.columns.length) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${op.toUpperCase()} queries have different number of columns: left has ` +
        `${left.columns.length} columns whereas right has ${right.columns.length} columns`,
    );
  }
  const columns = left.columns.map((column, index) =>
    commonColumn(column, right.columns[index], op),
  );
  const isAll = quantifier.startsWith('All');
  const semiJoin =
    op === 'Union' ? undefined : bindSemiJoin({ op, isAll, left, right, columns }, around);
  if (semiJoin !== undefined) return semiJoin;
  const [a, b] = [retyped(left, columns, around), retyped(right, columns, around)];
  const word = `${op.toUpperCase()}${isAll ? ' ALL' : ''}`;
  if (op === 'Union' && isAll) around.session.hasUnion = true;
  return {
    text: `(${a.text}) ${word} (${b.text})`,
    tree: () => ({ kind: 'set', operator: word, sides: [a.tree(), b.tree()] }),
    ...{ columns, tableName: undefined, isUnordered: true },
  };
}

/** Aligns queries by column name, in order of first occurrence; missing columns are NULL. */
function alignedByName(queries: readonly BoundQuery[], around: QueryEnv): readonly BoundQuery[] {
  const names = [...new Set(queries.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  around.session.spend(names.length * queries.length);
  return queries.map((query) => {
    const inner = around.session.newName('r');
    const columns = names.map((name, index): QueryColumn => {
      const [found, another] = query.columns.filter((column) => column.name === name);
      if (another !== undefined) {
        throw tsdbError(
          'plan_error',
          `Schema error: Ambiguous reference to unqualified field ${name}`,
        );
      }
      const { type = NULL, tableColumnKind } = found ?? {};
      return { name, qualifier: undefined, type, tableColumnKind, duckDbName: `c${index}` };
    });
    const duckDbNames = new Map(query.columns.map(({ name, duckDbName }) => [name, duckDbName]));
    const items = columns.map(({ name, duckDbName }) => {
      const from = duckDbNames.get(name);
      return `${from === undefined ? 'NULL' : `${inner}.${from}`} AS ${duckDbName}`;
    });
    return {
      ...query,
      text: `SELECT ${items.join(', ')} FROM (${query.text}) AS ${inner}`,
      tree: unverified('BY NAME'),
      columns,
    };
  });
}

function commonColumn(a: QueryColumn, b: QueryColumn | undefined, op: string): QueryColumn {
  const type = b && unionType([a.type, b.type], false);
  if (type === undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: Incompatible inputs for ${op}: Previous inputs were of type ` +
        `${arrowTypeName(a.type)}, but got incompatible type ${b === undefined ? 'Null' : arrowTypeName(b.type)} ` +
        `on column '${a.name}'`,
    );
  }
  const { origin: _origin, ...column } = a;
  return {
    ...column,
    type,
    tableColumnKind: a.tableColumnKind === b?.tableColumnKind ? a.tableColumnKind : undefined,
  };
}

/** Applies ORDER BY and LIMIT to the output of a set operation, VALUES or a parenthesized query. */
function orderOutput(
  query: BoundQuery,
  order: readonly OrderByExpr[],
  limit: RowLimit,
  around: QueryEnv,
): BoundQuery {
  if (order.length === 0 && !isLimited(limit)) return query;
  const name = around.session.newName('r');
  const treeOfColumn = ({ duckDbName, type }: QueryColumn) => columnTree(name, duckDbName, type);
  const visible = query.columns.map((column) => ({
    name: column.name,
    qualifier: column.qualifier,
    type: column.type,
    text: `${name}.${column.duckDbName}`,
    tree: treeOfColumn(column),
    tableColumnKind: column.tableColumnKind,
    use: () => undefined,
  }));
  const env: Env = {
    ...around,
    scope: new Scope({ relations: [], visible, parent: around.outer }),
    windows: new Map(),
    noAggregate: 'Aggregate functions are not allowed in ORDER BY of this query',
    noWindow: 'Window functions are not allowed in ORDER BY of this query',
  };
  const { text: orderText, tree: orderTree } = bindOrder(
    expandOrderByAll(order, visible.length),
    (expr) => {
      const position = positionOf(expr, visible.length, 'ORDER BY');
      if (position !== undefined) return { text: String(position), tree: position, isListed: true };
      const bound = around.session.bindExpr(expr, env);
      return { text: bound.text, tree: () => treeOf(bound), isListed: false };
    },
  );
  const counts = limitTree(limit);

  const list = query.columns.map((column, index) => `${name}.${column.duckDbName} AS c${index}`);
  const columns = query.columns.map(({ origin: _origin, ...column }, index) => ({
    ...column,
    duckDbName: `c${index}`,
  }));
  return {
    text: `SELECT ${list.join(', ')} FROM (${query.text}) AS ${name}${orderText}${limitText(limit)}`,
    tree:
      counts === undefined
        ? unverified('LIMIT with an expression')
        : () => ({
            ...plainSelect(
              query.columns.map((column) => treeOfColumn(column)()),
              { kind: 'query', query: query.tree(), relation: name },
            ),
            ...{ order: orderTree(), limit: counts },
          }),
    columns,
    tableName: query.tableName,
    isUnordered: order.length === 0 && query.isUnordered === true,
  };
}
