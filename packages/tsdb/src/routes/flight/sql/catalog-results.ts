import { setImmediate } from 'node:timers/promises';
import { assertNever } from '@plinth/kernel';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { type ArrowField, arrowFieldOf, plainField } from '../../arrow/arrow-field.js';
import { encapsulated, schemaMessage } from '../../arrow/schema-message.js';
import type { FlightDeps } from '../../deps.js';
import type { ArrowStream } from '../send-stream.js';
import type { CatalogCommand } from './commands.js';
import { matchesLike } from './like-pattern.js';
import { type Row, streamOfRows } from './rows.js';
import { SQL_INFO_FIELDS, sqlInfoRows } from './sql-info.js';
import { TYPE_INFO_FIELDS, typeInfoRows } from './type-info.js';

const UTF8: SqlType = { kind: 'utf8' };
const INT32: SqlType = { kind: 'int', bits: 32, signed: true };
const UINT8: SqlType = { kind: 'int', bits: 8, signed: false };

const text = (name: string): ArrowField => plainField(name, UTF8);
const present = (name: string, type: SqlType = UTF8): ArrowField => plainField(name, type, false);

const TABLE_FIELDS = [
  text('catalog_name'),
  text('db_schema_name'),
  present('table_name'),
  present('table_type'),
];

/** Returns the result columns of a command. Source: Arrow Flight SQL, `FlightSql.proto`. */
export function fieldsOfCommand(command: CatalogCommand): readonly ArrowField[] {
  switch (command.kind) {
    case 'catalogs':
      return [present('catalog_name')];
    case 'schemas':
      return [text('catalog_name'), present('db_schema_name')];
    case 'tables':
      return command.includesSchema
        ? [...TABLE_FIELDS, present('table_schema', { kind: 'binary' })]
        : TABLE_FIELDS;
    case 'table_types':
      return [present('table_type')];
    case 'primary_keys':
      return [
        text('catalog_name'),
        text('db_schema_name'),
        present('table_name'),
        present('column_name'),
        present('key_sequence', INT32),
        text('key_name'),
      ];
    case 'foreign_keys':
      return [
        ...['pk', 'fk'].flatMap((side) => [
          text(`${side}_catalog_name`),
          text(`${side}_db_schema_name`),
          present(`${side}_table_name`),
          present(`${side}_column_name`),
        ]),
        present('key_sequence', INT32),
        text('fk_key_name'),
        text('pk_key_name'),
        present('update_rule', UINT8),
        present('delete_rule', UINT8),
      ];
    case 'sql_info':
      return SQL_INFO_FIELDS;
    case 'type_info':
      return TYPE_INFO_FIELDS;
    default:
      return assertNever(command);
  }
}

/** Runs a metadata command. */
export async function commandResult(
  command: CatalogCommand,
  database: string,
  deps: FlightDeps,
  signal: AbortSignal,
): Promise<ArrowStream> {
  const fields = fieldsOfCommand(command);
  const listTables = async (): Promise<readonly Table[]> => await tablesOf(database, deps, signal);
  return streamOfRows(
    fields,
    await rowsOf(command, listTables, (table) => schemaOf(table, database, deps)),
  );
}

async function rowsOf(
  command: CatalogCommand,
  listTables: () => Promise<readonly Table[]>,
  schemaOf: (table: Table) => Promise<Uint8Array>,
): Promise<readonly Row[]> {
  switch (command.kind) {
    case 'catalogs':
      return [['public']];
    case 'schemas': {
      const all = (await listTables()).map(({ catalog, schema }) => ({ catalog, schema }));
      const byName = new Map(all.map((each) => [each.schema, each]));
      return [...byName.values()]
        .filter((each) => isInCatalog(each, command))
        .sort((a, b) => (a.schema < b.schema ? -1 : 1))
        .map(({ catalog, schema }) => [catalog, schema]);
    }
    case 'tables': {
      const tables = (await listTables())
        .filter(
          (table) =>
            isInCatalog(table, command) &&
            matchesLike(table.name, command.tablePattern) &&
            (command.types.length === 0 || command.types.includes(table.type)),
        )
        .sort((a, b) => compare([a.catalog, a.schema, a.name], [b.catalog, b.schema, b.name]));
      const rows: Row[] = [];
      for (const table of tables) {
        const schema = command.includesSchema ? [await schemaOf(table)] : [];
        rows.push([table.catalog, table.schema, table.name, table.type, ...schema]);
        // A schema takes a fraction of a millisecond, and thousands of tables are possible.
        if (command.includesSchema && rows.length % TABLES_PER_TICK === 0) await setImmediate();
      }
      return rows;
    }
    case 'table_types':
      return [['BASE TABLE'], ['VIEW']];
    case 'primary_keys':
    case 'foreign_keys':
      return [];
    case 'sql_info':
      return sqlInfoRows(command.ids);
    case 'type_info':
      return typeInfoRows(command.dataType);
    default:
      return assertNever(command);
  }
}

const TABLES_PER_TICK = 16;

interface Table {
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  readonly type: string;
}

function isInCatalog(
  { catalog, schema }: Pick<Table, 'catalog' | 'schema'>,
  filter: { readonly catalog: string | undefined; readonly schemaPattern: string | undefined },
): boolean {
  const isCatalog =
    filter.catalog === undefined || filter.catalog === '' || filter.catalog === catalog;
  return isCatalog && matchesLike(schema, filter.schemaPattern);
}

function compare(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((text, index) => text !== b[index]);
  return at === -1 ? 0 : (a[at] as string) < (b[at] as string) ? -1 : 1;
}

async function tablesOf(
  database: string,
  { engine, access }: FlightDeps,
  signal: AbortSignal,
): Promise<readonly Table[]> {
  const query = {
    database,
    access,
    language: 'sql',
    text: 'SHOW TABLES',
    params: new Map(),
    signal,
  } as const;
  const { chunks } = await engine.query(query);
  const tables: Table[] = [];
  for await (const { columns, rowCount } of chunks) {
    for (let row = 0; row < rowCount; row++) {
      const [catalog = '', schema = '', name = '', type = ''] = columns.map(({ values }) =>
        String(values[row]),
      );
      tables.push({ catalog, schema, name, type });
    }
  }
  return tables;
}

/** Returns the table's columns as an Arrow schema message. */
async function schemaOf(
  { schema, name }: Table,
  database: string,
  { engine, access }: FlightDeps,
): Promise<Uint8Array> {
  const quoted = [schema, name].map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
  const sql = `SELECT * FROM ${quoted}`;
  const { columns } = await engine.describe({
    database,
    access,
    language: 'sql',
    text: sql,
    params: new Map(),
  });
  return encapsulated(schemaMessage(columns.map(arrowFieldOf)));
}
