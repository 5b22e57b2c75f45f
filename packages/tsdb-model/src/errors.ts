import { asGiven, type ErrorOf, errorCatalogue } from '@plinth/kernel';
import type { SparseTable } from './parsed-body.js';
import { PROCESSING_TEXTS } from './processing-errors.js';
import type { DatabaseSchema, TableSchema } from './schema.js';

/** Ends a message about a name that is unknown because of a rename. */
export const renamedHint = (renamedTo: string | undefined): string =>
  renamedTo === undefined ? '' : `; it was renamed to '${renamedTo}'`;

/** All errors that this service returns deliberately, with their documented messages. */
const TEXTS = {
  ...PROCESSING_TEXTS,
  /**
   * The caller lacks the permission, whether or not the named object exists. Source: tsdb-http,
   * section 2.
   */
  not_permitted: 'unauthorized to perform requested action with the token',
  database_not_found: (details: { readonly database: string }) =>
    `database not found: ${details.database}`,
  /** Source: tsdb-http, "Database names"; the message names the violated rule. */
  database_name_invalid: asGiven,
  database_limit_reached: (details: { readonly limit: number }) =>
    `Adding a new database would exceed limit of ${details.limit} databases`,
  policy_limit_reached: (details: { readonly database: string; readonly limit: number }) =>
    `database '${details.database}' has reached the limit of ${details.limit} retention policies; only an admin token can add more`,
  /** `_internal` belongs to the server: it can only be queried. */
  internal_database: (operation: 'modify' | 'delete') => `cannot ${operation} internal db`,
  /** The object to delete, restore or change does not exist. */
  resource_not_found: (details: { readonly resource: string }) =>
    `the requested resource was not found: ${details.resource}`,
  /** The database of a table or cache to manage does not exist. */
  database_not_known: (details: { readonly database: string }) =>
    `Database not found ${details.database}`,
  /** The table to manage does not exist. */
  table_not_known: (details: {
    readonly database: string;
    readonly table: string;
    /** Current name of the table if it was renamed. */
    readonly renamedTo?: string | undefined;
  }) =>
    `Table ${details.table} not in DB schema for ${details.database}${renamedHint(details.renamedTo)}`,
  column_not_known: (details: {
    readonly table: string;
    readonly column: string;
    readonly renamedTo?: string | undefined;
  }) => `Column ${details.column} not in table ${details.table}${renamedHint(details.renamedTo)}`,
  /** A statement or deletion uses the former name of a column. */
  column_renamed: (details: {
    readonly table: string;
    readonly column: string;
    readonly renamedTo: string;
  }) =>
    `column '${details.column}' of table '${details.table}' was renamed to '${details.renamedTo}'; use the new name`,
  /** The new name of a table or column is in use. */
  name_taken: asGiven,
  /** The new name of a table or column is invalid, or the column cannot be renamed. */
  rename_invalid: asGiven,
  /** A deleted object cannot be changed, or its deletion already has the requested schedule. */
  already_deleted: (details: { readonly resource: string }) =>
    `attempted to modify resource that was already deleted: ${details.resource}`,
  /** A write uses the name that a database received when it was deleted. */
  database_deleted: (details: { readonly database: string }) =>
    `cannot write to soft-deleted database '${details.database}' - it is marked for deletion`,
  /**
   * Row deletions arrive faster than compaction carries them out; the client should retry later.
   */
  too_many_deletions: (details: { readonly table: string }) =>
    `table '${details.table}' has too many pending row deletions; retry later`,
  /** Every affected table stores the conditions until the rows are removed. */
  deletion_too_large: (details: { readonly tableCount: number; readonly maxBytes: number }) =>
    `the deletion predicate is too long to store for ${details.tableCount} tables (at most ${details.maxBytes} bytes in total); delete from fewer tables or shorten the predicate`,
  /** Every point is stored until it is removed from the files. */
  too_many_points: (details: { readonly table: string; readonly maxCount: number }) =>
    `the condition matches more than ${details.maxCount} rows of table '${details.table}'; use a shorter time range, or a condition only on tags and time`,
  deletion_timed_out: (details: { readonly table: string; readonly maxMs: number }) =>
    `the search for the rows of table '${details.table}' took longer than ${details.maxMs / 1000} s, and nothing was deleted; use a shorter time range`,
  /** A 2.x client requests the setup of a server that already has a token. */
  already_set_up: 'onboarding has already been completed',
  /** The bucket that a 2.x client wants to create already exists. */
  bucket_exists: (details: { readonly bucket: string }) =>
    `bucket with name ${details.bucket} already exists`,
  /** A query in Flux, the language of version 2. */
  flux_not_spoken: () =>
    'Flux is not supported: send SQL to /api/v3/query_sql, or InfluxQL to /query or /api/v3/query_influxql',
  /** The predicate of a row deletion is malformed, or contains unsupported syntax. */
  delete_predicate_invalid: asGiven,
  /** The cache definition is invalid. The message is passed to the client unchanged. */
  cache_definition_invalid: asGiven,
  /** The database, table, cache or trigger to create already exists. */
  resource_exists: (_at: { readonly resource: string }) =>
    'attempted to create a resource that already exists',
  /** The statement is valid, but not as a live query. */
  live_query_unsupported: asGiven,
  too_many_live_queries: (details: { readonly maxCount: number }) =>
    `the server runs ${details.maxCount} live queries, which is the limit; close unused streams or raise tsdb.max_live_queries`,
  /** Another continuous query has this name. The message is that of InfluxDB 1.x. */
  continuous_query_exists: 'continuous query already exists',
  continuous_query_limit_reached: (details: { readonly limit: number }) =>
    `the server has ${details.limit} continuous queries, which is the limit; drop unused queries`,
  /** The definition of a continuous query in SQL is invalid. */
  continuous_query_invalid: asGiven,
  /** The table definition is invalid: a reserved column, or one name for two kinds of column. */
  table_definition_invalid: asGiven,
  /** The new table would exceed the limit of tables or columns. */
  schema_limit_reached: asGiven,
  /** The column cannot have the type, or some of its values cannot. */
  conversion_invalid: asGiven,
  conversion_busy: 'another conversion is running; wait until it ends, or cancel it',
  /** A running conversion ended without changing the column. */
  conversion_failed: asGiven,
  /** The table cannot be changed during the conversion of one of its columns. */
  table_converting: (details: { readonly table: string }) =>
    `a column of table '${details.table}' is being converted; wait until the conversion ends, or cancel it`,
  /** The body has a content type or encoding that the endpoint does not read. */
  content_type_unsupported: (details: { readonly given: string; readonly expected: string }) =>
    `unsupported ${details.given}; expected ${details.expected}`,
  /** The body is not in Snappy block format. */
  snappy_corrupt: (details: { readonly why: string; readonly index: number }) =>
    `error decoding snappy block: ${details.why}, at byte ${details.index}`,
  /** The body is not a message of Prometheus or OpenTelemetry. */
  message_invalid: (details: { readonly message: string; readonly why: string }) =>
    `not a valid ${details.message} message: ${details.why}`,
  write_empty: 'incoming write was empty',
  body_not_utf8: (details: { readonly index: number; readonly sizeBytes: number }) =>
    `body content is not valid utf8: invalid utf-8 sequence of ${details.sizeBytes} bytes from index ${details.index}`,
  /**
   * Lines that each use different fields of a table: the columns would be far larger than the body.
   */
  body_too_sparse: (at: SparseTable) =>
    `too many empty cells for one request (${at.rowCount} rows of ${at.columnCount} columns so far in table '${at.table}'); ` +
    'send fewer lines, or fewer different fields',
  /** Unflushed rows have reached the hard memory limit; the client should retry later. */
  buffer_full: (_at: { readonly retryAfterSec: number }) =>
    'write buffer is full: data arrives faster than it can be stored; retry later',
  /** A write or sync of the log failed; the server accepts no writes until it is restarted. */
  node_read_only:
    'the write-ahead log could not be written; the node is read-only until it is restarted',
  shutting_down: 'the server is shutting down',
  /**
   * The query cannot be planned because of its syntax, unknown names or wrong types. The message is passed to the
   * client unchanged.
   */
  plan_error: asGiven,
  /** Trino does not respond, or rejects the server's requests. */
  trino_unavailable: (details: { readonly url: string; readonly why: string }) =>
    `Trino at ${details.url} is not available: ${details.why}; check query.wide_url`,
  /** A wide query would not see all rows of the table, or deleted ones. */
  table_not_published: (details: { readonly table: string; readonly reason: string }) =>
    `table '${details.table}' cannot be published now: ${details.reason}; retry later, or run the query without engine=trino`,
  not_implemented: (what: string) => `This feature is not implemented: ${what}`,
  /**
   * A statement that changes data arrived in a GET request, which any website can make a browser
   * send.
   */
  read_only_request:
    'without authentication, statements that change data are rejected in GET requests from browsers; use POST',
  /**
   * The data caused the running query to fail: division by zero, overflow, a cast, or a value too large for a result.
   */
  execution_error: asGiven,
  /**
   * The query ran out of memory. It may succeed with less data or with fewer concurrent queries.
   */
  query_out_of_memory: asGiven,
  /** The server caused the query to fail: an unreadable file, or a bug. */
  query_failed: asGiven,
  query_timed_out: (limitMs: number) => `query-timeout limit exceeded: ${limitMs} ms`,
  /** The client disconnected, or the query was canceled. */
  query_cancelled: 'query cancelled',
  /** The credential of the query was deleted, has expired or lost a permission while the query ran. */
  query_unauthorized: 'the request was not authenticated',
  /** Too many queries are waiting for a slot; the client should retry later. */
  query_queue_full: 'too many queries are waiting; retry later',
  /** GROUP BY time would create more buckets than the configured limit. */
  bucket_limit_exceeded: (details: { readonly count: bigint; readonly limit: number }) =>
    `max-select-buckets limit exceeded: (${details.count}/${details.limit})`,
  /** A function that DuckDB does not support would need too much memory. */
  query_too_large: (limit: number) =>
    `the query buffers more than ${limit} values in memory; select a shorter time range or fewer series`,
  /** A parameter is missing or invalid; the message is passed to the client unchanged. */
  parameter_invalid: asGiven,
  /**
   * Two aliases of one parameter have different values. Source: tsdb-http, "Compatibility profile".
   */
  conflicting_values: (names: { readonly first: string; readonly second: string }) =>
    `conflicting values for '${names.first}' and '${names.second}'`,
} as const;

export const tsdbError = errorCatalogue('TsdbError', TEXTS);
export type TsdbError<Kind extends keyof typeof TEXTS = keyof typeof TEXTS> = ErrorOf<
  typeof TEXTS,
  Kind
>;

/** Creates the error for a table that a database does not have; contains the new name of a renamed table. */
export const tableNotKnown = (
  { name, formerTables }: Pick<DatabaseSchema, 'name' | 'formerTables'>,
  table: string,
): TsdbError<'table_not_known'> =>
  tsdbError('table_not_known', { database: name, table, renamedTo: formerTables?.get(table) });

/**
 * Throws `column_renamed` if one of the names is the former name of a column. A deletion needs this check for each of
 * its tables: a missing tag meets conditions such as `host != 'a'`, so all rows of the table would be deleted.
 */
export function refuseFormerColumns(
  { name: table, formerColumns }: Pick<TableSchema, 'name' | 'formerColumns'>,
  names: Iterable<string>,
): void {
  if (formerColumns === undefined) return;
  for (const column of names) {
    const renamedTo = formerColumns.get(column);
    if (renamedTo !== undefined) throw tsdbError('column_renamed', { table, column, renamedTo });
  }
}
