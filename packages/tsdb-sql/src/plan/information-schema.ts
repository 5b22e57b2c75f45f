import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import type { PlanContext, VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { BOOLEAN, UINT64, UTF8 } from '../bind/types/bound.js';
import type { FunctionRegistry } from '../functions/registry.js';
import { parameterRows } from './routine-parameters.js';
import { columnType } from './select/column-type.js';

const VIEWS = [
  'tables',
  'views',
  'columns',
  'df_settings',
  'schemata',
  'routines',
  'parameters',
] as const;

/** Settings that clients read. */
export const SETTINGS: readonly (readonly [name: string, value: string, description: string])[] = [
  [
    'datafusion.catalog.create_default_catalog_and_schema',
    'false',
    'Whether a default catalog and schema are created',
  ],
  ['datafusion.catalog.default_catalog', 'public', 'The catalog of names without one'],
  ['datafusion.catalog.default_schema', 'iox', 'The schema of names without one'],
  ['datafusion.catalog.information_schema', 'true', 'Whether information_schema can be read'],
  ['datafusion.execution.time_zone', '+00:00', 'The time zone of timestamps without one'],
];

interface Row {
  readonly [column: string]: unknown;
}

/**
 * Returns a view of `information_schema`, or `undefined` for an unknown name.
 * Source: query-languages, "SQL schema views".
 */
export function informationSchemaTable(
  name: string,
  context: PlanContext,
  functions: FunctionRegistry | undefined,
): VirtualTable | undefined {
  switch (name) {
    case 'tables':
      return virtual(['table_catalog', 'table_schema', 'table_name', 'table_type'], () =>
        tableRows(context),
      );
    case 'columns':
      return columnsView(() => columnRows(context));
    case 'schemata':
      return virtual(
        [
          'catalog_name',
          'schema_name',
          'schema_owner',
          'default_character_set_catalog',
          'default_character_set_schema',
          'default_character_set_name',
          'sql_path',
        ],
        () =>
          ['information_schema', 'iox', 'system'].map((schema_name) => ({
            catalog_name: 'public',
            schema_name,
          })),
      );
    case 'df_settings':
      return virtual(['name', 'value', 'description'], () =>
        SETTINGS.map(([setting, value, description]) => ({ name: setting, value, description })),
      );
    case 'views':
      return virtual(['table_catalog', 'table_schema', 'table_name', 'definition'], () =>
        VIEWS.map((table_name) => ({
          table_catalog: 'public',
          table_schema: 'information_schema',
          table_name,
        })),
      );
    case 'routines':
      return virtual(
        [
          'specific_catalog',
          'specific_schema',
          'specific_name',
          'routine_catalog',
          'routine_schema',
          'routine_name',
          'routine_type',
          'data_type',
          'function_type',
        ],
        () => routineRows(functions),
      );
    case 'parameters':
      return virtual(
        [
          'specific_catalog',
          'specific_schema',
          'specific_name',
          'ordinal_position',
          'parameter_mode',
          'parameter_name',
          'data_type',
          'parameter_default',
          'is_variadic',
          'rid',
        ],
        () => (functions === undefined ? [] : parameterRows(functions)),
      );
    default:
      return undefined;
  }
}

const routineRows = (functions: FunctionRegistry | undefined): readonly Row[] =>
  (functions?.names() ?? []).map((name) => ({
    specific_catalog: 'public',
    specific_schema: 'information_schema',
    specific_name: name,
    routine_catalog: 'public',
    routine_schema: 'information_schema',
    routine_name: name,
    routine_type: 'FUNCTION',
    function_type: functions?.find(name)?.kind.toUpperCase(),
  }));

const COLUMN_COLUMNS = [
  'table_catalog',
  'table_schema',
  'table_name',
  'column_name',
  'ordinal_position',
  'column_default',
  'is_nullable',
  'data_type',
  'character_maximum_length',
  'character_octet_length',
  'numeric_precision',
  'numeric_precision_radix',
  'numeric_scale',
  'datetime_precision',
  'interval_type',
] as const;

const NUMBER_COLUMNS: ReadonlySet<string> = new Set([
  'ordinal_position',
  'character_maximum_length',
  'character_octet_length',
  'numeric_precision',
  'numeric_precision_radix',
  'numeric_scale',
  'datetime_precision',
  'rid',
]);

/** Returns the view `columns` with these rows. */
export function columnsView(rows: () => readonly Row[]): VirtualTable {
  return virtual(COLUMN_COLUMNS, rows);
}

function virtual(names: readonly string[], rows: () => readonly Row[]): VirtualTable {
  const columns: readonly OutputColumn[] = names.map((name) => ({
    name,
    type: NUMBER_COLUMNS.has(name) ? UINT64 : name === 'is_variadic' ? BOOLEAN : UTF8,
    tableColumnKind: undefined,
  }));
  return { columns, rows: () => rows().map((row) => names.map((name) => row[name])) };
}

/** Returns user tables, then system tables, each by name, then the views. */
export function tableRows({ database, virtualTables }: PlanContext): readonly Row[] {
  const row = (table_schema: string, table_name: string, table_type: string) => ({
    table_catalog: 'public',
    table_schema,
    table_name,
    table_type,
  });
  return [
    ...[...database.tables.keys()]
      .sort(compareByteOrder)
      .map((name) => row('iox', name, 'BASE TABLE')),
    ...virtualTables.systemTableNames.map((name) => row('system', name, 'BASE TABLE')),
    ...VIEWS.map((name) => row('information_schema', name, 'VIEW')),
  ];
}

/** Returns the columns of every table, or of `only`. */
export function columnRows(
  context: PlanContext,
  only?: { readonly schema: string; readonly name: string },
): readonly Row[] {
  const rows: Row[] = [];
  for (const { table_schema, table_name } of tableRows(context)) {
    const [schema, name] = [String(table_schema), String(table_name)];
    if (only !== undefined && (only.schema !== schema || only.name !== name)) continue;
    for (const [index, column] of columnsOf(schema, name, context).entries()) {
      rows.push({
        table_catalog: 'public',
        table_schema,
        table_name,
        column_name: column.name,
        ordinal_position: BigInt(index + 1),
        is_nullable: column.tableColumnKind === 'time' ? 'NO' : 'YES',
        data_type: arrowTypeName(column.type),
        ...numericFacts(column.type),
      });
    }
  }
  return rows;
}

/** Returns the columns of a table in any schema; empty if it does not exist. */
export function columnsOf(
  schema: string,
  name: string,
  context: PlanContext,
): readonly OutputColumn[] {
  if (schema === 'information_schema')
    return informationSchemaTable(name, context, undefined)?.columns ?? [];
  if (schema !== 'iox') return context.virtualTables.table(schema, name)?.columns ?? [];
  return [...(context.database.tables.get(name)?.columns.values() ?? [])].map((column) => ({
    name: column.name,
    type: columnType(column.kind),
    tableColumnKind: column.kind,
  }));
}

function numericFacts(type: SqlType): Row {
  if (type.kind === 'int')
    return { numeric_precision: BigInt(type.bits), numeric_precision_radix: 2n };
  if (type.kind === 'float') {
    return { numeric_precision: type.bits === 64 ? 24n : 12n, numeric_precision_radix: 2n };
  }
  return type.kind === 'utf8' ? { character_octet_length: 2147483647n } : {};
}
