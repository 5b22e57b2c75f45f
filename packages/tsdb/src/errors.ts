import type { ProcessingError } from './processing-errors.js';

/** Closed list of the expected failures of this service. Messages are the documented texts. */

export class DatabaseNotFound extends Error {
  override readonly name = 'DatabaseNotFound';
  readonly kind = 'database_not_found';
  readonly database: string;
  constructor(at: { database: string }) {
    super(`database not found: ${at.database}`);
    this.database = at.database;
  }
}

/** Source: tsdb-http, "Database names"; the text says which rule was broken. */
export class DatabaseNameInvalid extends Error {
  override readonly name = 'DatabaseNameInvalid';
  readonly kind = 'database_name_invalid';
}

export class DatabaseLimitReached extends Error {
  override readonly name = 'DatabaseLimitReached';
  readonly kind = 'database_limit_reached';
  constructor(at: { limit: number }) {
    super(`Adding a new database would exceed limit of ${at.limit} databases`);
  }
}

/** `_internal` is the server's own: it can be queried and nothing else. */
export class InternalDatabase extends Error {
  override readonly name = 'InternalDatabase';
  readonly kind = 'internal_database';
  constructor(operation: 'modify' | 'delete' = 'modify') {
    super(`cannot ${operation} internal db`);
  }
}

/** Something to delete, to restore or to change is not there. */
export class ResourceNotFound extends Error {
  override readonly name = 'ResourceNotFound';
  readonly kind = 'resource_not_found';
  constructor(at: { resource: string }) {
    super(`the requested resource was not found: ${at.resource}`);
  }
}

/** The database of a table or cache to manage is not there. */
export class DatabaseNotKnown extends Error {
  override readonly name = 'DatabaseNotKnown';
  readonly kind = 'database_not_known';
  constructor(at: { database: string }) {
    super(`Database not found ${at.database}`);
  }
}

/** The table to manage is not there. */
export class TableNotKnown extends Error {
  override readonly name = 'TableNotKnown';
  readonly kind = 'table_not_known';
  constructor(at: { database: string; table: string }) {
    super(`Table ${at.table} not in DB schema for ${at.database}`);
  }
}

/** A deleted thing cannot be changed, or its deletion is just what was asked for. */
export class AlreadyDeleted extends Error {
  override readonly name = 'AlreadyDeleted';
  readonly kind = 'already_deleted';
  constructor(at: { resource: string }) {
    super(`attempted to modify resource that was already deleted: ${at.resource}`);
  }
}

/** A write names a database by the name it got when it was deleted. */
export class DatabaseDeleted extends Error {
  override readonly name = 'DatabaseDeleted';
  readonly kind = 'database_deleted';
  constructor(at: { database: string }) {
    super(`cannot write to soft-deleted database '${at.database}' - it is marked for deletion`);
  }
}

/** Deletions of rows come faster than compaction can carry them out; the client should come back. */
export class TooManyDeletions extends Error {
  override readonly name = 'TooManyDeletions';
  readonly kind = 'too_many_deletions';
  readonly retryAfterSec = 10;
  constructor(at: { table: string }) {
    super(`too many deletions of rows wait in table ${at.table}; retry later`);
  }
}

/** What tells which rows to delete cannot be read, or names what it may not. */
export class DeletePredicateInvalid extends Error {
  override readonly name = 'DeletePredicateInvalid';
  readonly kind = 'delete_predicate_invalid';
}

/** A cache cannot be made as described. The message is complete as the client sees it. */
export class CacheDefinitionInvalid extends Error {
  override readonly name = 'CacheDefinitionInvalid';
  readonly kind = 'cache_definition_invalid';
}

/** The database, table, cache or trigger to create is already there. */
export class ResourceExists extends Error {
  override readonly name = 'ResourceExists';
  readonly kind = 'resource_exists';
  readonly resource: string;
  constructor(at: { resource: string }) {
    super('attempted to create a resource that already exists');
    this.resource = at.resource;
  }
}

/** A table cannot be created as described: reserved column, one name for two kinds of column. */
export class TableDefinitionInvalid extends Error {
  override readonly name = 'TableDefinitionInvalid';
  readonly kind = 'table_definition_invalid';
}

/** A table to create would exceed the number of tables or columns. */
export class SchemaLimitReached extends Error {
  override readonly name = 'SchemaLimitReached';
  readonly kind = 'schema_limit_reached';
}

export class WriteEmpty extends Error {
  override readonly name = 'WriteEmpty';
  readonly kind = 'write_empty';
  constructor() {
    super('incoming write was empty');
  }
}

export class BodyNotUtf8 extends Error {
  override readonly name = 'BodyNotUtf8';
  readonly kind = 'body_not_utf8';
  readonly index: number;
  readonly sizeBytes: number;
  constructor(at: { index: number; sizeBytes: number }) {
    super(
      `body content is not valid utf8: invalid utf-8 sequence of ${at.sizeBytes} bytes from index ${at.index}`,
    );
    this.index = at.index;
    this.sizeBytes = at.sizeBytes;
  }
}

/** Unflushed memory is at its hard limit; the client should come back. */
export class BufferFull extends Error {
  override readonly name = 'BufferFull';
  readonly kind = 'buffer_full';
  readonly retryAfterSec: number;
  constructor(at: { retryAfterSec: number }) {
    super('write buffer is full: data arrives faster than it can be stored; retry later');
    this.retryAfterSec = at.retryAfterSec;
  }
}

/** A write or sync of the log failed; nothing more is accepted until the server is restarted. */
export class NodeReadOnly extends Error {
  override readonly name = 'NodeReadOnly';
  readonly kind = 'node_read_only';
  constructor(cause?: unknown) {
    super('the write-ahead log could not be written; the node is read-only until it is restarted', {
      cause,
    });
  }
}

export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
  readonly kind = 'shutting_down';
  constructor() {
    super('the server is shutting down');
  }
}

/** The query cannot be planned: syntax, unknown names, wrong types. The message is complete as the client sees it. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
  readonly kind = 'plan_error';
}

/** Message without the prefix `This feature is not implemented: `. */
export class NotImplemented extends Error {
  override readonly name = 'NotImplemented';
  readonly kind = 'not_implemented';
  constructor(what: string) {
    super(`This feature is not implemented: ${what}`);
  }
}

/** A statement that changes something came by a request that a page of any site can make a browser send. */
export class ReadOnlyRequest extends Error {
  override readonly name = 'ReadOnlyRequest';
  readonly kind = 'read_only_request';
  constructor() {
    super('while no token is asked for, browsers change something by POST alone');
  }
}

/** The query was planned and failed while it ran (division by zero, cast, memory limit). */
export class ExecutionError extends Error {
  override readonly name = 'ExecutionError';
  readonly kind = 'execution_error';
}

/** The query took longer than it may. */
export class QueryTimedOut extends Error {
  override readonly name = 'QueryTimedOut';
  readonly kind = 'query_timed_out';
  constructor(limitMs: number) {
    super(`query-timeout limit exceeded: ${limitMs} ms`);
  }
}

/** The client went away, or somebody ended the query. */
export class QueryCancelled extends Error {
  override readonly name = 'QueryCancelled';
  readonly kind = 'query_cancelled';
  constructor() {
    super('query cancelled');
  }
}

/** Too many queries wait for their turn; the client should come back. */
export class QueryQueueFull extends Error {
  override readonly name = 'QueryQueueFull';
  readonly kind = 'query_queue_full';
  readonly retryAfterSec = 1;
  constructor() {
    super('too many queries are waiting; retry later');
  }
}

/** GROUP BY time would make more buckets than the configured number. */
export class BucketLimitExceeded extends Error {
  override readonly name = 'BucketLimitExceeded';
  readonly kind = 'bucket_limit_exceeded';
  constructor(at: { count: bigint; limit: number }) {
    super(`max-select-buckets limit exceeded: (${at.count}/${at.limit})`);
  }
}

/** A function without a form in the engine would hold too much in memory. */
export class QueryTooLarge extends Error {
  override readonly name = 'QueryTooLarge';
  readonly kind = 'query_too_large';
  constructor(limit: number) {
    super(
      `query holds more than ${limit} values in memory: narrow its range of time or its series`,
    );
  }
}

export type TsdbError =
  | ProcessingError
  | DatabaseNotFound
  | DatabaseNameInvalid
  | DatabaseLimitReached
  | InternalDatabase
  | ResourceExists
  | ResourceNotFound
  | DatabaseNotKnown
  | TableNotKnown
  | AlreadyDeleted
  | DatabaseDeleted
  | TooManyDeletions
  | DeletePredicateInvalid
  | CacheDefinitionInvalid
  | TableDefinitionInvalid
  | SchemaLimitReached
  | WriteEmpty
  | BodyNotUtf8
  | BufferFull
  | NodeReadOnly
  | ShuttingDown
  | PlanError
  | NotImplemented
  | ReadOnlyRequest
  | ExecutionError
  | QueryTimedOut
  | QueryCancelled
  | QueryQueueFull
  | BucketLimitExceeded
  | QueryTooLarge;
