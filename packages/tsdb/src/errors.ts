import { asGiven, type ErrorOf, errorCatalogue } from '@plinth/kernel';
import type { SparseTable } from './model/parsed-body.js';
import { PROCESSING_TEXTS } from './processing-errors.js';

/** Closed catalogue of the expected failures of this service. The texts are the documented ones. */
const TEXTS = {
  ...PROCESSING_TEXTS,
  /** Who asks may not do this, whether or not there is what they name. Source: tsdb-http, section 2. */
  not_permitted: 'unauthorized to perform requested action with the token',
  database_not_found: (at: { readonly database: string }) => `database not found: ${at.database}`,
  /** Source: tsdb-http, "Database names"; the text says which rule was broken. */
  database_name_invalid: asGiven,
  database_limit_reached: (at: { readonly limit: number }) =>
    `Adding a new database would exceed limit of ${at.limit} databases`,
  policy_limit_reached: (at: { readonly database: string; readonly limit: number }) =>
    `database '${at.database}' has ${at.limit} retention policies: only an admin token may add more`,
  /** `_internal` is the server's own: it can be queried and nothing else. */
  internal_database: (operation: 'modify' | 'delete') => `cannot ${operation} internal db`,
  /** Something to delete, to restore or to change is not there. */
  resource_not_found: (at: { readonly resource: string }) =>
    `the requested resource was not found: ${at.resource}`,
  /** The database of a table or cache to manage is not there. */
  database_not_known: (at: { readonly database: string }) => `Database not found ${at.database}`,
  /** The table to manage is not there. */
  table_not_known: (at: { readonly database: string; readonly table: string }) =>
    `Table ${at.table} not in DB schema for ${at.database}`,
  /** A deleted thing cannot be changed, or its deletion is just what was asked for. */
  already_deleted: (at: { readonly resource: string }) =>
    `attempted to modify resource that was already deleted: ${at.resource}`,
  /** A write names a database by the name it got when it was deleted. */
  database_deleted: (at: { readonly database: string }) =>
    `cannot write to soft-deleted database '${at.database}' - it is marked for deletion`,
  /** Deletions of rows come faster than compaction can carry them out; the client should come back. */
  too_many_deletions: (at: { readonly table: string }) =>
    `too many deletions of rows wait in table ${at.table}; retry later`,
  /** Every table that may have such rows keeps the conditions until they are gone. */
  deletion_too_large: (at: { readonly tableCount: number; readonly maxBytes: number }) =>
    `the conditions of this deletion are too long to be kept once for each of ${at.tableCount} tables (at most ${at.maxBytes} bytes in all); delete from fewer tables at a time, or by shorter conditions`,
  /** A question in the language of version 2. */
  flux_not_spoken: () =>
    'Flux is not spoken here: send SQL to /api/v3/query_sql, or InfluxQL to /query or /api/v3/query_influxql',
  /** What tells which rows to delete cannot be read, or names what it may not. */
  delete_predicate_invalid: asGiven,
  /** A cache cannot be made as described. The text is complete as the client sees it. */
  cache_definition_invalid: asGiven,
  /** The database, table, cache or trigger to create is already there. */
  resource_exists: (_at: { readonly resource: string }) =>
    'attempted to create a resource that already exists',
  /** A table cannot be created as described: reserved column, one name for two kinds of column. */
  table_definition_invalid: asGiven,
  /** A table to create would exceed the number of tables or columns. */
  schema_limit_reached: asGiven,
  write_empty: 'incoming write was empty',
  body_not_utf8: (at: { readonly index: number; readonly sizeBytes: number }) =>
    `body content is not valid utf8: invalid utf-8 sequence of ${at.sizeBytes} bytes from index ${at.index}`,
  /** Lines that use the fields of their tables in turn: columns far larger than the body. */
  body_too_sparse: (at: SparseTable) =>
    `too many empty cells for one request: the first lines for table '${at.table}' alone make ${at.rowCount} rows of ` +
    `${at.columnCount} columns; send fewer different fields in one request, or fewer lines`,
  /** Unflushed memory is at its hard limit; the client should come back. */
  buffer_full: (_at: { readonly retryAfterSec: number }) =>
    'write buffer is full: data arrives faster than it can be stored; retry later',
  /** A write or sync of the log failed; nothing more is accepted until the server is restarted. */
  node_read_only:
    'the write-ahead log could not be written; the node is read-only until it is restarted',
  shutting_down: 'the server is shutting down',
  /** The query cannot be planned: syntax, unknown names, wrong types. The text is complete as the client sees it. */
  plan_error: asGiven,
  not_implemented: (what: string) => `This feature is not implemented: ${what}`,
  /** A statement that changes something came by a request that a page of any site can make a browser send. */
  read_only_request: 'while no token is asked for, browsers change something by POST alone',
  /** The query failed while it ran, by what it computes of its data: division by zero, overflow, a cast, a value too large for a result. */
  execution_error: asGiven,
  /** The query ran out of memory. It may succeed with less data or with fewer concurrent queries. */
  query_out_of_memory: asGiven,
  /** The query failed by a fault of the server: a file that cannot be read, a defect. */
  query_failed: asGiven,
  /** The query took longer than it may. */
  query_timed_out: (limitMs: number) => `query-timeout limit exceeded: ${limitMs} ms`,
  /** The client went away, or somebody ended the query. */
  query_cancelled: 'query cancelled',
  /** Too many queries wait for their turn; the client should come back. */
  query_queue_full: 'too many queries are waiting; retry later',
  /** GROUP BY time would make more buckets than the configured number. */
  bucket_limit_exceeded: (at: { readonly count: bigint; readonly limit: number }) =>
    `max-select-buckets limit exceeded: (${at.count}/${at.limit})`,
  /** A function without a form in the engine would hold too much in memory. */
  query_too_large: (limit: number) =>
    `query holds more than ${limit} values in memory: narrow its range of time or its series`,
  /** A parameter is missing or has a value that is not allowed; the text is complete as the client sees it. */
  parameter_invalid: asGiven,
  /** Two spellings of one parameter disagree. Source: tsdb-http, "Compatibility profile". */
  conflicting_values: (names: { readonly first: string; readonly second: string }) =>
    `conflicting values for '${names.first}' and '${names.second}'`,
} as const;

export const tsdbError = errorCatalogue('TsdbError', TEXTS);
export type TsdbError<Kind extends keyof typeof TEXTS = keyof typeof TEXTS> = ErrorOf<
  typeof TEXTS,
  Kind
>;
