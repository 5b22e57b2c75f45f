import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import { renamedHint, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ScannedTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { ScanDraft } from '../../bind/scan-draft.js';
import type { Relation, Scope, ScopeColumn } from '../../bind/scope.js';
import type { BoundQuery, QueryEnv } from '../../bind/session.js';
import { quoteName, scanMark } from '../../emit/quote.js';
import {
  nameOf,
  namesOf,
  type Query,
  type TableAlias,
  type TableFactor,
  type TableNode,
  variantOf,
} from '../../parse/ast.js';
import { columnTree, type FromTree, type Lazy, unverified } from '../../plan-tree.js';
import { columnType } from '../select/column-type.js';
import { readingOf } from './common-tables.js';
import { bindTableFunction, bindUnnest } from './table-functions.js';
import { resolveTable } from './table-name.js';
import { virtualQuery } from './virtual-tables.js';

/** A bound item of FROM: its text and the names it provides. */
export interface FromItem {
  readonly text: string;
  readonly tree: Lazy<FromTree>;
  readonly relations: readonly Relation[];
  /** Columns of `*`. */
  readonly visible: readonly ScopeColumn[];
  readonly tableName: string | undefined;
}

/** @param before names that a LATERAL item may use. */
export function bindTableFactor(
  factor: TableFactor,
  around: QueryEnv,
  before: Scope | undefined,
): FromItem {
  if ('Table' in factor) return bindTable(factor.Table as TableNode, around, before);
  if ('Derived' in factor) {
    const { lateral, subquery, alias } = factor.Derived as {
      readonly lateral: boolean;
      readonly subquery: Query;
      readonly alias?: TableAlias;
    };
    const outer = lateral ? (before ?? around.outer) : around.outer;
    const query = around.session.bindQuery(subquery, { ...around, outer, depth: around.depth + 1 });
    return derivedItem(query, { prefix: lateral ? 'LATERAL ' : '', alias, around });
  }
  if ('UNNEST' in factor) {
    const { array_exprs, alias } = factor.UNNEST as Parameters<typeof bindUnnest>[0];
    const query = bindUnnest({ array_exprs, ...(alias && { alias }) }, around, before);
    return derivedItem(query, { prefix: 'LATERAL ', alias, around });
  }
  throw tsdbError(
    'not_implemented',
    `Unsupported ast node ${variantOf(factor)} in create_relation`,
  );
}

function bindTable(node: TableNode, around: QueryEnv, before: Scope | undefined): FromItem {
  const names = namesOf(node.name);
  const { alias } = node;
  if (node.sample !== undefined) throw tsdbError('not_implemented', 'TABLESAMPLE is not supported');
  if (node.args !== undefined) {
    const query = bindTableFunction(names.join('.'), node.args.args, around, before);
    if ('source' in query) return scannedTable(query, names, alias, around);
    return derivedItem(query, { prefix: before === undefined ? '' : 'LATERAL ', alias, around });
  }
  const cte = names.length === 1 ? around.ctes.get(names[0] ?? '') : undefined;
  if (cte !== undefined) {
    return namedItem(readingOf(cte), {
      text: cte.duckDbName,
      tree: (relation) => () => ({ kind: 'common', name: cte.duckDbName, relation }),
      path: [names[0] ?? ''],
      alias,
      around,
    });
  }
  const path = resolveTable(names);
  const [catalog, schema, name] = path;
  const isHere = catalog === 'public';
  if (isHere && schema === 'iox') {
    const table = around.session.context.database.tables.get(name);
    if (table !== undefined) return baseTable(table, path, alias, around);
  }
  const virtual = isHere ? virtualQuery(schema, name, around.session) : undefined;
  if (virtual === undefined) {
    const renamedTo = around.session.context.database.formerTables?.get(name);
    const hint = isHere && schema === 'iox' ? renamedHint(renamedTo) : '';
    const text = `table '${path.join('.')}' not found${hint}`;
    throw tsdbError('plan_error', `Error during planning: ${text}`);
  }
  const { query } = virtual;
  const tree = () => unverified(`table ${path.slice(1).join('.')}`);
  const item = namedItem(query, { text: `(${query.text})`, tree, path, alias, around });
  // A list of column aliases also hides the other names of its columns.
  const hidden = [...(virtual.table.otherNames ?? [])].flatMap(([name, of]) => {
    const column = item.visible.find((candidate) => candidate.name === of);
    return column === undefined ? [] : [{ ...column, name }];
  });
  if (hidden.length === 0) return item;
  return { ...item, relations: item.relations.map((relation) => ({ ...relation, hidden })) };
}

function baseTable(
  table: TableSchema,
  path: readonly string[],
  alias: TableAlias | undefined,
  around: QueryEnv,
): FromItem {
  const draft = new ScanDraft(table, around.session.scans.length);
  const textOf = (kind: ColumnKind) => ({ type: columnType(kind), tableColumnKind: kind });
  return scanItem({ draft, path, alias, around, textOf });
}

/**
 * Binds the table of a cache. Its strings are not dictionaries; conditions on them narrow the scan
 * like those on tags.
 */
function scannedTable(
  { table, source }: ScannedTable,
  path: readonly string[],
  alias: TableAlias | undefined,
  around: QueryEnv,
): FromItem {
  const draft = new ScanDraft(table, around.session.scans.length, source);
  const textOf = (kind: ColumnKind) =>
    kind === 'tag' || kind === 'utf8'
      ? { type: columnType('utf8'), tableColumnKind: 'tag' as const }
      : { type: columnType(kind), tableColumnKind: kind };
  // Rows have the order of the cache; only stored tables are ordered by time.
  return { ...scanItem({ draft, path, alias, around, textOf }), tableName: undefined };
}

function scanItem(options: {
  readonly draft: ScanDraft;
  readonly path: readonly string[];
  readonly alias: TableAlias | undefined;
  readonly around: QueryEnv;
  readonly textOf: (kind: ColumnKind) => Pick<ScopeColumn, 'type' | 'tableColumnKind'>;
}): FromItem {
  const { draft: scan, path, alias, textOf } = options;
  const { session } = options.around;
  const { table } = scan;
  session.spend(table.columns.size);
  session.scans.push(scan);
  const name = session.newName('r');
  const qualifier = alias === undefined ? table.name : nameOf(alias.name);
  const shown = aliasColumns(alias, table.columns.size);
  const columns: readonly ScopeColumn[] = [...table.columns.values()].map((column, index) => ({
    name: shown?.[index] ?? column.name,
    qualifier,
    ...textOf(column.kind),
    text: `${name}.${quoteName(column.physicalName)}`,
    tree: columnTree(name, column.name, columnType(column.kind)),
    origin: { scan, column: column.name },
    use: () => scan.use(column.name),
  }));
  return {
    text: `${scanMark(scan.index)} AS ${name}`,
    tree:
      scan.source === undefined
        ? () => ({ kind: 'scan', table, relation: name })
        : unverified('a cache function'),
    relations: [
      {
        path: alias === undefined ? path : [qualifier],
        columns,
        ...(table.formerColumns && { formerColumns: table.formerColumns }),
      },
    ],
    visible: columns,
    tableName: table.name,
  };
}

function derivedItem(
  query: BoundQuery,
  options: {
    readonly prefix: string;
    readonly alias: TableAlias | undefined;
    readonly around: QueryEnv;
  },
): FromItem {
  const { prefix, alias, around } = options;
  const tree = (relation: string): Lazy<FromTree> =>
    prefix === ''
      ? () => ({ kind: 'query', query: query.tree(), relation })
      : unverified('LATERAL');
  const text = `${prefix}(${query.text})`;
  return namedItem(query, { text, tree, path: undefined, alias, around });
}

/** Binds a query, or text with its columns, as a relation. */
function namedItem(
  query: BoundQuery,
  options: {
    readonly text: string;
    readonly tree: (relation: string) => Lazy<FromTree>;
    readonly path: readonly string[] | undefined;
    readonly alias: TableAlias | undefined;
    readonly around: QueryEnv;
  },
): FromItem {
  const { alias } = options;
  const { session } = options.around;
  session.spend(query.columns.length);
  const name = session.newName('r');
  const path = alias === undefined ? options.path : [nameOf(alias.name)];
  const shown = aliasColumns(alias, query.columns.length);
  const columns: readonly ScopeColumn[] = query.columns.map((column, index) => ({
    name: shown?.[index] ?? column.name,
    qualifier: path === undefined ? column.qualifier : path.at(-1),
    type: column.type,
    text: `${name}.${column.duckDbName}`,
    tree: columnTree(name, column.duckDbName, column.type),
    tableColumnKind: column.tableColumnKind,
    ...(column.origin && { origin: column.origin }),
    use: () => undefined,
  }));
  const relations =
    path === undefined
      ? [...new Set(columns.map((column) => column.qualifier))].flatMap((qualifier) =>
          qualifier === undefined
            ? []
            : [{ path: [qualifier], columns: columns.filter((c) => c.qualifier === qualifier) }],
        )
      : [{ path, columns }];
  return {
    text: `${options.text} AS ${name}`,
    tree: options.tree(name),
    ...{ relations, visible: columns, tableName: undefined },
  };
}

function aliasColumns(
  alias: TableAlias | undefined,
  columnCount: number,
): readonly string[] | undefined {
  if (alias === undefined || alias.columns.length === 0) return undefined;
  if (alias.columns.length === columnCount)
    return alias.columns.map((column) => nameOf(column.name));
  throw tsdbError(
    'plan_error',
    `Error during planning: Source table contains ${columnCount} columns but only ` +
      `${alias.columns.length} names given as column alias`,
  );
}
