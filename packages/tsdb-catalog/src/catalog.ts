import type { ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import type { RefusalReason, RefusedLine } from '@plinth/tsdb-model/refused-line.js';
import type { DatabaseSchema, IntegerFields, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { DeletedResources } from './deletion/deleted-resources.js';

/** Why one row was rejected. */
export interface RowRefusal {
  readonly row: number;
  readonly message: string;
  readonly reason: RefusalReason;
}

/** One table of a request after the schema check. */
export interface ValidatedTable {
  /** Differs from the given table if integers were converted to floats. */
  readonly parsed: ParsedTable;
  /**
   * Schema after the request, with every column that the accepted rows use. `undefined` if the
   * table still does not exist, because every row was rejected.
   */
  readonly schema: TableSchema | undefined;
  /** Ascending by row; usually empty. */
  readonly refusals: readonly RowRefusal[];
}

export interface ValidationResult {
  /** `undefined` if it does not exist and a rejected `allOrNothing` request did not create it. */
  readonly database: DatabaseSchema | undefined;
  readonly tables: readonly ValidatedTable[];
}

/**
 * Databases, tables and columns: immutable snapshots in memory, durable in the relational store. A
 * change is durable before a row that needs it is written to the log.
 */
export interface Catalog {
  /** Stable across restarts: the `cluster-uuid` header. */
  readonly clusterUuid: string;
  database(name: string): DatabaseSchema | undefined;
  databaseById(id: number): DatabaseSchema | undefined;
  tableById(id: number): TableSchema | undefined;
  /** Also returns the schema of a deleted table whose data still exists. */
  keptTableById(id: number): TableSchema | undefined;
  /** Returns false if, according to the catalog, no table can have had this id. */
  mayHaveAssignedTableId(id: number): boolean;
  /** Ensures that new tables receive greater ids, because this id is used elsewhere. */
  reserveTableIdsUpTo(id: number): void;
  /** Deleted databases and tables that the catalog still lists. */
  readonly deleted: DeletedResources;
  /** Active databases by name, ascending, including `_internal`. */
  databases(): readonly DatabaseSchema[];
  /** Creates the database if it does not exist. Throws `database_limit_reached`. */
  ensureDatabase(name: string): Promise<DatabaseSchema>;
  /**
   * `retentionNs` as in `DatabaseSchema`. Throws `database_name_invalid`, `resource_exists`,
   * `database_limit_reached`, and `parameter_invalid` for the integer fields of a retention policy.
   */
  createDatabase(
    name: string,
    retentionNs: bigint | undefined,
    integerFields?: IntegerFields,
  ): Promise<DatabaseSchema>;
  /**
   * Checks parsed tables against the schema in line order, and creates what is missing, including
   * the database. Synchronous if nothing has to be created and few rows need a check, because the
   * common case must not wait. With `allOrNothing`, a rejected row, here or in `alreadyRefused`,
   * prevents every creation.
   * The output of one parser must be passed completely and in parsing order, unless the parser
   * forgets its tag sets: known series count as checked.
   * Throws, synchronously or through the promise, `database_limit_reached`, `policy_limit_reached`
   * and `internal_database`. Source: tsdb-http, "Schema on write, names, limits".
   */
  validate(request: {
    readonly database: string;
    /** True if the server writes to its own database. */
    readonly isInternal?: boolean;
    /** True if the writer may use only a part of the limits (`WRITER_SHARE`). */
    readonly isLimited?: boolean;
    readonly tables: readonly ParsedTable[];
    readonly allOrNothing: boolean;
    readonly alreadyRefused: readonly RefusedLine[];
    /** Tag sets known to the parser, for rows whose series is not in `newSeries`. */
    readonly seriesOf: (
      table: ParsedTable,
      series: number,
    ) => { readonly tagKeys: readonly string[] };
  }): ValidationResult | Promise<ValidationResult>;
}

/** `DATABASE.TABLE` for messages; without the database if it is deleted. `undefined` for an unknown id. */
export function qualifiedTableName(
  catalog: Pick<Catalog, 'keptTableById' | 'databaseById'>,
  tableId: number,
): string | undefined {
  const table = catalog.keptTableById(tableId);
  if (table === undefined) return undefined;
  const database = catalog.databaseById(table.databaseId);
  return database === undefined ? table.name : `${database.name}.${table.name}`;
}
