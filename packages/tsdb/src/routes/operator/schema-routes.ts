import { jsonResponse, OpenApi, operatorFailure, operatorRoute, type Route } from '@plinth/kernel';
import {
  databasesOverview,
  type TableFacts,
  tableOverview,
} from '@plinth/tsdb-catalog/overview.js';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { Type } from 'typebox';

const MAX_TABLE_COUNT = 1000;
const maybe = Type.Optional;
const { response, json, nullable } = OpenApi;
const Ns = nullable(Type.String({ description: 'nanoseconds since 1970' }));
const ExtentFields = {
  row_count: Type.Integer({ description: 'stored rows; overwritten points count more than once' }),
  size_bytes: Type.Integer({ description: 'size of the files' }),
  segment_count: Type.Integer(),
  buffered_row_count: Type.Integer({ description: 'rows in memory, not yet in a file' }),
  min_time: Ns,
  max_time: Ns,
};
const Retention = { retention_ns: nullable(Type.String({ description: 'null: keep forever' })) };
const Time = nullable(Type.String({ format: 'date-time' }));
const Database = Type.Object({
  name: Type.String(),
  ...Retention,
  integer_fields: OpenApi.oneOf(['integer', 'float'], {
    description: 'column type of new integer fields',
  }),
  table_count: Type.Integer(),
  ...ExtentFields,
  deleted_at: Time,
  hard_delete_at: Time,
});
const Table = Type.Object({
  name: Type.String(),
  series_key: Type.Array(Type.String(), { description: 'tags in key order' }),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: OpenApi.oneOf(['time', 'tag', 'float64', 'int64', 'uint64', 'utf8', 'bool']),
    }),
  ),
  ...Retention,
  series_count: Type.Integer(),
  ...ExtentFields,
});
const FIND = { find: maybe(Type.String({ default: '', description: 'part of the name' })) };

/**
 * Databases and tables with columns, rows, bytes and time ranges, for the tree of a console page.
 */
export const schemaRoutes = (catalog: RelationalCatalog, facts: TableFacts): readonly Route[] => [
  operatorRoute('GET', '/tsdb/databases', {
    about: { summary: 'List databases with retention, tables, rows, bytes and time ranges' },
    input: {
      query: Type.Object({ ...FIND, deleted: maybe(Type.Boolean({ default: false })) }),
    },
    output: {
      200: response('databases by name', json(Type.Object({ databases: Type.Array(Database) }))),
    },
    handle: (_request, { query: { find = '', deleted = false } }) =>
      jsonResponse(200, {
        databases: databasesOverview(catalog, facts, { find, withDeleted: deleted }),
      }),
  }),
  operatorRoute('GET', '/tsdb/schema', {
    about: { summary: 'List tables of a database with columns, key, rows, series and time range' },
    input: {
      query: Type.Object({
        db: Type.String({ minLength: 1 }),
        ...FIND,
        limit: maybe(Type.Integer({ minimum: 1, maximum: MAX_TABLE_COUNT, default: 200 })),
        cursor: maybe(Type.String({ description: 'cursor of the previous page' })),
      }),
    },
    output: {
      200: response(
        'tables by name',
        json(
          Type.Object({
            tables: Type.Array(Table),
            table_count: Type.Integer({ description: 'number of matching tables on all pages' }),
            next_cursor: nullable(Type.String()),
          }),
        ),
      ),
    },
    errors: { 404: 'database not found' },
    handle(request, { query: { db, find = '', limit = 200, cursor } }) {
      const database = catalog.database(db);
      if (database === undefined) return operatorFailure(request, 404, `database not found: ${db}`);
      const searchText = find.toLowerCase();
      const tables = [...database.tables.values()]
        .filter(({ name }) => name.toLowerCase().includes(searchText))
        .sort((a, b) => compareByteOrder(a.name, b.name));
      const rest =
        cursor === undefined
          ? tables
          : tables.filter(({ name }) => compareByteOrder(name, cursor) > 0);
      const page = rest.slice(0, limit);
      return jsonResponse(200, {
        tables: page.map((table) => tableOverview(table, facts)),
        table_count: tables.length,
        next_cursor: rest.length > limit ? (page.at(-1)?.name ?? null) : null,
      });
    },
  }),
];
