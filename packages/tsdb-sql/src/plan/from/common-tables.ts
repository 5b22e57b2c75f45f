import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ScanDraft } from '../../bind/scan-draft.js';
import type { BoundQuery, CommonTable, QueryColumn, QueryEnv } from '../../bind/session.js';
import {
  nameOf,
  type Query,
  type SetExpr,
  type SetOperationNode,
  type TableAlias,
} from '../../parse/ast.js';
import { type Lazy, type QueryTree, unverified } from '../../plan-tree.js';
import { retyped } from '../select/retype.js';

type CommonTableTree = Extract<QueryTree, { kind: 'with' }>['tables'][number];

/** Returns `WITH …` with a trailing space, and the visible names including the new ones. */
export function bindCommonTables(
  query: Query,
  around: QueryEnv,
): {
  readonly prefix: string;
  readonly trees: readonly Lazy<CommonTableTree>[];
  readonly ctes: ReadonlyMap<string, CommonTable>;
} {
  const clause = query.with;
  if (clause === undefined) return { prefix: '', trees: [], ctes: around.ctes };
  const ctes = new Map(around.ctes);
  const own = new Set<string>();
  const texts: string[] = [];
  const trees: Lazy<CommonTableTree>[] = [];
  for (const { alias, query: body } of clause.cte_tables) {
    const name = nameOf(alias.name);
    if (own.has(name)) {
      throw tsdbError(
        'plan_error',
        `SQL error: ParserError("WITH query name \\"${name}\\" specified more than once")`,
      );
    }
    own.add(name);
    const inside: QueryEnv = { ...around, ctes, depth: around.depth + 1 };
    const duckDbName = around.session.newName('w');
    const isRecursive = clause.recursive && mentions(body, name);
    const bound = isRecursive
      ? recursiveTable({ name, alias, body, duckDbName, around: inside })
      : around.session.bindQuery(body, inside);
    const columns = isRecursive ? bound.columns : renamed(bound, alias);
    const names = columns.map((column) => column.duckDbName);
    trees.push(() => ({ name: duckDbName, columns: names, query: bound.tree() }));
    texts.push(`${duckDbName}(${names.join(', ')}) AS (${bound.text})`);
    ctes.set(name, { duckDbName, columns });
  }
  return {
    prefix: `WITH ${clause.recursive ? 'RECURSIVE ' : ''}${texts.join(', ')} `,
    trees,
    ctes,
  };
}

/**
 * Returns one reader's view of a common table. Other readers may exist, so its conditions narrow no
 * scan; its time bounds are kept for gap filling.
 */
export function readingOf({ duckDbName, columns }: CommonTable): BoundQuery {
  const readings = new Map<ScanDraft, ScanDraft>();
  const own = columns.map(({ origin, ...column }) => {
    if (origin === undefined) return column;
    const scan = readings.get(origin.scan) ?? origin.scan.reading();
    readings.set(origin.scan, scan);
    return { ...column, origin: { ...origin, scan } };
  });
  const tree = unverified(duckDbName); // its readers refer to it by name
  return { text: duckDbName, tree, columns: own, tableName: undefined };
}

/** Returns the columns with the names of the alias. */
function renamed(query: BoundQuery, alias: TableAlias): readonly QueryColumn[] {
  const names = alias.columns.map((column) => nameOf(column.name));
  if (names.length > 0 && names.length !== query.columns.length) {
    throw tsdbError(
      'plan_error',
      `Error during planning: Source table contains ${query.columns.length} columns but only ` +
        `${names.length} names given as column alias`,
    );
  }
  return query.columns.map((column, index) => ({
    ...column,
    name: names[index] ?? column.name,
    qualifier: nameOf(alias.name),
  }));
}

function recursiveTable(options: {
  readonly name: string;
  readonly alias: TableAlias;
  readonly body: Query;
  readonly duckDbName: string;
  readonly around: QueryEnv;
}): BoundQuery {
  const { name, alias, body, duckDbName, around } = options;
  const node =
    'SetOperation' in body.body ? (body.body.SetOperation as SetOperationNode) : undefined;
  if (node?.op !== 'Union') {
    throw tsdbError(
      'not_implemented',
      'recursive queries without a UNION of a static and a recursive term',
    );
  }
  const start = around.session.bindQuery(bodyQuery(node.left), around);
  // Rows of the recursive step differ from the initial rows, so their columns have no origin.
  const columns = renamed(start, alias).map(({ origin: _origin, ...column }) => column);
  const ctes = new Map(around.ctes).set(name, { duckDbName, columns });
  const step = around.session.bindQuery(bodyQuery(node.right), { ...around, ctes });
  if (step.columns.length !== columns.length) {
    throw tsdbError(
      'plan_error',
      'Error during planning: Non-recursive term and recursive term must have the same number of columns ' +
        `(${columns.length} != ${step.columns.length})`,
    );
  }
  const isAll = node.set_quantifier === 'All';
  if (isAll) around.session.hasUnion = true;
  return {
    text: `(${start.text}) UNION${isAll ? ' ALL' : ''} (${retyped(step, columns, around).text})`,
    tree: unverified('WITH RECURSIVE'),
    columns,
    tableName: undefined,
  };
}

/** Returns whether any FROM in the tree names the table `name`. */
function mentions(node: unknown, name: string): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some((item) => mentions(item, name));
  if ('Table' in node) {
    const { name: path } = node.Table as {
      readonly name?: readonly { readonly Identifier: Parameters<typeof nameOf>[0] }[];
    };
    if (path?.length === 1 && path[0] !== undefined && nameOf(path[0].Identifier) === name)
      return true;
  }
  return Object.values(node).some((value) => mentions(value, name));
}

function bodyQuery(body: SetExpr): Query {
  return 'Query' in body ? body.Query : { body, locks: [] };
}
