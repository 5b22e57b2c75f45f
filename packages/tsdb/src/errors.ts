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
  constructor() {
    super('cannot modify internal db');
  }
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

/** The query was planned and failed while it ran (division by zero, cast, memory limit). */
export class ExecutionError extends Error {
  override readonly name = 'ExecutionError';
  readonly kind = 'execution_error';
}

/** The client went away or the time limit ended the query. */
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

export type TsdbError =
  | DatabaseNotFound
  | DatabaseNameInvalid
  | DatabaseLimitReached
  | InternalDatabase
  | ResourceExists
  | TableDefinitionInvalid
  | SchemaLimitReached
  | WriteEmpty
  | BodyNotUtf8
  | BufferFull
  | NodeReadOnly
  | ShuttingDown
  | PlanError
  | NotImplemented
  | ExecutionError
  | QueryCancelled
  | QueryQueueFull;
