import {
  type HttpRequest,
  type HttpResponse,
  jsonResponse,
  OpenApi,
  operatorFailure,
  operatorRoute,
  type Route,
} from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { type ListedTable, listPublished } from '@plinth/tsdb-open-tables/list-published.js';
import { nameFault } from '@plinth/tsdb-open-tables/namespaces.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import { Type } from 'typebox';

const PATH = '/tsdb/open-tables';
const MAX_BODY_BYTES = 64 * 1024;
const { response, json, nullable, oneOf } = OpenApi;
const Count = Type.Integer({ minimum: 0 });
const Name = Type.String({ minLength: 1 });

const Published = Type.Object({
  db: Type.String(),
  table: Type.String(),
  namespace: Type.String({ description: 'name of the database in the catalog' }),
  format_version: Type.Integer({ description: 'of Iceberg: 3 with nanoseconds, 2 for Java' }),
  state: oneOf(['published', 'empty', 'waiting', 'withdrawn', 'failed', 'unpublishable']),
  reason: nullable(Type.String({ description: 'why the newest rows are not published' })),
  location: Type.String({ description: 'folder for readers without the catalog' }),
  absent_columns: Type.Array(Type.String(), { description: 'columns that are not published' }),
  version: nullable(Type.Integer({ description: 'null: no snapshot is readable' })),
  published_at: nullable(Type.String({ format: 'date-time' })),
  fresh_through: nullable(
    Type.String({ description: 'rows acknowledged before this time are visible' }),
  ),
  file_count: nullable(Count),
  row_count: nullable(Count),
  size_bytes: nullable(Count),
});
const List = Type.Object({ tables: Type.Array(Published) });

/** The state of published tables, and the route that publishes immediately. */
export const openTableRoutes = (
  catalog: RelationalCatalog,
  openTables: OpenTables,
): readonly Route[] => {
  const databaseOf = (request: HttpRequest, name: string): DatabaseSchema | HttpResponse => {
    const database = catalog.database(name);
    if (database === undefined) return operatorFailure(request, 404, `database not found: ${name}`);
    if (openTables.isPublished(name)) return database;
    const message = `database ${name} is not published; add it to the setting open_tables.databases and restart the server`;
    return operatorFailure(request, 409, message);
  };
  return [
    operatorRoute('GET', PATH, {
      about: { summary: 'List published tables with their newest versions' },
      input: { query: Type.Object({ db: Type.Optional(Name) }) },
      output: { 200: response('published tables, once for each namespace', json(List)) },
      errors: { 404: 'database not found', 409: 'the database is not published' },
      handle(request, { query: { db } }) {
        const database = db === undefined ? undefined : databaseOf(request, db);
        if (database !== undefined && 'status' in database) return database;
        const databases = database === undefined ? openTables.databases() : [database];
        return jsonResponse(200, listToWire(openTables, databases));
      },
    }),
    operatorRoute('POST', `${PATH}/publish`, {
      maxBytes: MAX_BODY_BYTES,
      about: { summary: 'Flush and publish the tables of a database, or one table' },
      input: { body: Type.Object({ db: Name, table: Type.Optional(Name) }) },
      output: { 200: response('state after publishing', json(List)) },
      errors: {
        404: 'database or table not found',
        409: 'the database is not published',
        422: 'the name of the table cannot be published',
      },
      async handle(request, { body: { db, table: name } }) {
        const database = databaseOf(request, db);
        if ('status' in database) return database;
        const all = [...database.tables.values()];
        const tables = name === undefined ? all : all.filter((table) => table.name === name);
        if (name !== undefined && tables.length === 0)
          return operatorFailure(request, 404, `table not found: ${db}.${name}`);
        const fault = name === undefined ? undefined : nameFault({ name });
        if (fault !== undefined)
          return operatorFailure(request, 422, `table ${db}.${name} cannot be published: ${fault}`);
        await openTables.publishNow(tables.filter((table) => nameFault(table) === undefined));
        const { tables: listed } = listToWire(openTables, [database]);
        const matching = listed.filter((each) => name === undefined || each.table === name);
        return jsonResponse(200, { tables: matching });
      },
    }),
  ];
};

const listToWire = (openTables: OpenTables, databases: readonly DatabaseSchema[]) => ({
  tables: databases.flatMap((database) => listPublished(openTables, database).map(toWire)),
});

const toWire = ({ database: db, table, namespace, newest, ...listed }: ListedTable) => ({
  ...{ db, table, namespace },
  format_version: listed.formatVersion,
  state: listed.state,
  reason: listed.reason ?? null,
  location: listed.location,
  absent_columns: listed.absentColumns,
  version: newest?.version ?? null,
  published_at: newest === undefined ? null : new Date(newest.publishedMs).toISOString(),
  fresh_through: newest?.freshThrough ?? null,
  file_count: newest?.fileCount ?? null,
  row_count: newest?.rowCount ?? null,
  size_bytes: newest?.sizeBytes ?? null,
});
