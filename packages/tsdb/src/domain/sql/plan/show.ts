import { PlanError } from '../../../errors.js';
import type { OutputColumn } from '../../../model/result.js';
import { UTF8 } from '../bind/bound.js';
import type { BoundQuery, Session } from '../bind/session.js';
import { type Ident, nameOf, namesOf, type ObjectName } from '../parse/ast.js';
import { columnRows, SETTINGS, tableRows } from './information-schema.js';
import { resolveTable } from './table-name.js';
import { virtualTableQuery } from './virtual-tables.js';

const TABLE_COLUMNS = ['table_catalog', 'table_schema', 'table_name', 'table_type'];
const COLUMN_COLUMNS = [
  'table_catalog',
  'table_schema',
  'table_name',
  'column_name',
  'data_type',
  'is_nullable',
];

/** Source: query-languages, "SQL schema views". */
export function showTables(session: Session): BoundQuery {
  return listing(TABLE_COLUMNS, tableRows(session.context), session);
}

export function showColumns(body: unknown, session: Session): BoundQuery {
  const { show_options } = body as {
    readonly show_options: { readonly show_in?: { readonly parent_name?: ObjectName } };
  };
  const name = show_options.show_in?.parent_name;
  if (name === undefined) {
    throw new PlanError('Error during planning: SHOW COLUMNS needs the name of a table');
  }
  return listing(COLUMN_COLUMNS, rowsOfTable(name, session), session);
}

export function describeTable(body: unknown, session: Session): BoundQuery {
  const { table_name } = body as { readonly table_name: ObjectName };
  return listing(
    ['column_name', 'data_type', 'is_nullable'],
    rowsOfTable(table_name, session),
    session,
  );
}

export function showFunctions(session: Session): BoundQuery {
  const rows = session.functions.names().map((name) => ({
    function_name: name,
    function_type: session.functions.find(name)?.kind.toUpperCase(),
  }));
  return listing(['function_name', 'function_type'], rows, session);
}

/** `SHOW ALL` and `SHOW <setting>`. */
export function showVariable(body: unknown, session: Session): BoundQuery {
  const { variable } = body as { readonly variable: readonly Ident[] };
  const words = variable.map(nameOf).filter((word) => word !== 'verbose');
  const name = alias(words.join('.'));
  const settings = SETTINGS.filter(([setting]) => name === 'all' || setting === name);
  if (settings.length === 0) {
    throw new PlanError(
      `Error during planning: '${name}' is not a variable which can be viewed with 'SHOW'`,
    );
  }
  return listing(
    ['name', 'value'],
    settings.map(([setting, value]) => ({ name: setting, value })),
    session,
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
  throw new PlanError(`Error during planning: table '${catalog}.${schema}.${table}' not found`);
}

function listing(
  names: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
  session: Session,
): BoundQuery {
  const columns: readonly OutputColumn[] = names.map((name) => ({
    name,
    type: UTF8,
    source: undefined,
  }));
  return virtualTableQuery(
    { columns, rows: () => rows.map((row) => names.map((name) => row[name])) },
    session,
  );
}
