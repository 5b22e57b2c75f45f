import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import { renamedHint, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { BoundQuery, Session } from '../bind/session.js';
import { UTF8 } from '../bind/types/bound.js';
import { type Ident, nameOf, namesOf, type ObjectName } from '../parse/ast.js';
import { resolveTable } from './from/table-name.js';
import { virtualTableQuery } from './from/virtual-tables.js';
import { columnRows, columnsView, SETTINGS, tableRows } from './information-schema.js';

const TABLE_COLUMNS = ['table_catalog', 'table_schema', 'table_name', 'table_type'];
const COLUMN_COLUMNS = [
  'table_catalog',
  'table_schema',
  'table_name',
  'column_name',
  'data_type',
  'is_nullable',
];

interface ShowOptions {
  readonly show_in?: { readonly parent_type?: string; readonly parent_name?: ObjectName };
  readonly [clause: string]: unknown;
}

/** Binds SHOW TABLES. Source: query-languages, "SQL schema views". */
export function showTables(body: unknown, session: Session): BoundQuery {
  const { show_options, ...words } = body as { readonly show_options: ShowOptions };
  for (const [word, isGiven] of Object.entries(words)) {
    if (isGiven)
      throw tsdbError('not_implemented', `SHOW ${word.toUpperCase()} TABLES not supported`);
  }
  refuseClauses(show_options, [
    ['show_in', 'SHOW TABLES IN not supported'],
    ['starts_with', 'SHOW TABLES LIKE not supported'],
    ['limit', 'SHOW TABLES LIMIT not supported'],
    ['limit_from', 'SHOW TABLES LIMIT FROM not supported'],
    ['filter_position', 'SHOW TABLES FILTER not supported'],
  ]);
  return listing(TABLE_COLUMNS, tableRows(session.context));
}

/** `FULL` and `EXTENDED` return all columns of `information_schema.columns`. */
export function showColumns(body: unknown, session: Session): BoundQuery {
  const { show_options, full, extended } = body as {
    readonly show_options: ShowOptions;
    readonly full: boolean;
    readonly extended: boolean;
  };
  refuseClauses(show_options, [
    ['starts_with', 'SHOW COLUMNS LIKE not supported'],
    ['limit', 'SHOW COLUMNS LIMIT not supported'],
    ['limit_from', 'SHOW COLUMNS LIMIT FROM not supported'],
    ['filter_position', 'SHOW COLUMNS with WHERE or LIKE is not supported'],
  ]);
  const { parent_type, parent_name } = show_options.show_in ?? {};
  if (parent_type !== undefined) {
    throw tsdbError(
      'not_implemented',
      `SHOW COLUMNS IN ${parent_type.toUpperCase()} not supported`,
    );
  }
  if (parent_name === undefined) {
    throw tsdbError('plan_error', 'Error during planning: SHOW COLUMNS requires a table name');
  }
  const rows = rowsOfTable(parent_name, session);
  return full || extended
    ? virtualTableQuery(columnsView(() => rows))
    : listing(COLUMN_COLUMNS, rows);
}

/** Rejects unsupported clauses, because ignoring one would return a wrong result. */
function refuseClauses(
  options: ShowOptions,
  refused: readonly (readonly [clause: string, text: string])[],
): void {
  for (const [clause, text] of refused) {
    if (options[clause] !== undefined) throw tsdbError('not_implemented', text);
  }
}

export function describeTable(body: unknown, session: Session): BoundQuery {
  const { table_name } = body as { readonly table_name: ObjectName };
  return listing(['column_name', 'data_type', 'is_nullable'], rowsOfTable(table_name, session));
}

export function showFunctions(body: unknown, session: Session): BoundQuery {
  const { filter } = body as { readonly filter?: Readonly<Record<string, unknown>> };
  const { Like: like, ILike: ilike } = filter ?? {};
  const pattern = like ?? ilike;
  if (filter !== undefined && typeof pattern !== 'string')
    throw tsdbError('not_implemented', 'SHOW FUNCTIONS with a filter other than LIKE or ILIKE');
  // Function names are in lower case.
  const searchPattern = ilike === undefined ? pattern : String(pattern).toLowerCase();
  const names = session.functions.names();
  const found =
    searchPattern === undefined
      ? names
      : names.filter((name) => isLike(name, String(searchPattern)));
  const rows = found.map((name) => ({
    function_name: name,
    function_type: session.functions.find(name)?.kind.toUpperCase(),
  }));
  return listing(['function_name', 'function_type'], rows);
}

/** Binds `SHOW ALL` and `SHOW <setting>`. */
export function showVariable(body: unknown): BoundQuery {
  const { variable } = body as { readonly variable: readonly Ident[] };
  const words = variable.map(nameOf).filter((word) => word !== 'verbose');
  const name = alias(words.join('.'));
  const settings = SETTINGS.filter(([setting]) => name === 'all' || setting === name);
  if (settings.length === 0) {
    throw tsdbError(
      'plan_error',
      `Error during planning: '${name}' is not a variable which can be viewed with 'SHOW'`,
    );
  }
  return listing(
    ['name', 'value'],
    settings.map(([setting, value]) => ({ name: setting, value })),
  );
}

function alias(name: string): string {
  return ['time_zone', 'timezone', 'time.zone'].includes(name)
    ? 'datafusion.execution.time_zone'
    : name;
}

function rowsOfTable(
  name: ObjectName,
  session: Session,
): readonly Readonly<Record<string, unknown>>[] {
  const [catalog, schema, table] = resolveTable(namesOf(name));
  const rows = columnRows(session.context, { schema, name: table });
  if (rows.length > 0) return rows;
  const renamedTo = session.context.database.formerTables?.get(table);
  throw tsdbError(
    'plan_error',
    `Error during planning: table '${catalog}.${schema}.${table}' not found${renamedHint(renamedTo)}`,
  );
}

function listing(
  names: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): BoundQuery {
  const columns: readonly OutputColumn[] = names.map((name) => ({
    name,
    type: UTF8,
    tableColumnKind: undefined,
  }));
  return virtualTableQuery({
    columns,
    rows: () => rows.map((row) => names.map((name) => row[name])),
  });
}

/** Matches `%` as any text and `_` as any character. Only the last `%` needs to backtrack. */
function isLike(name: string, pattern: string): boolean {
  let [at, place] = [0, 0];
  let star: { readonly pattern: number; name: number } | undefined;
  while (at < name.length) {
    if (pattern[place] === '%') star = { pattern: place++, name: at };
    else if (pattern[place] === '_' || pattern[place] === name[at])
      [at, place] = [at + 1, place + 1];
    else if (star !== undefined) [at, place] = [++star.name, star.pattern + 1];
    else return false;
  }
  return /^%*$/.test(pattern.slice(place));
}
