import type { ParsedTable, RefusedLine } from '../../model/parsed-body.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import type { DeletedResources } from './deletion/deleted-resources.js';

/** Why one row was not taken. `isLimit`: a limit refused it, not the text of the line. */
export interface RowRefusal {
  readonly row: number;
  readonly message: string;
  readonly isLimit: boolean;
}

/** One table of a request after the schema check. */
export interface AdmittedTable {
  readonly parsed: ParsedTable;
  /**
   * Schema after the request; holds every column the taken rows use. `undefined` when the table does not exist
   * even now: then no row of it was taken.
   */
  readonly schema: TableSchema | undefined;
  /** Ascending by row; empty in the usual case. */
  readonly refusals: readonly RowRefusal[];
}

export interface Admission {
  /** `undefined` when it does not exist and an `allOrNothing` request with a refusal did not create it. */
  readonly database: DatabaseSchema | undefined;
  readonly tables: readonly AdmittedTable[];
}

/**
 * Databases, tables and columns: in memory as immutable pictures, durable in the relational store. A change is
 * durable before a row that needs it may enter the log.
 */
export interface Catalog {
  /** Stable over restarts: the `cluster-uuid` header. */
  readonly clusterUuid: string;
  database(name: string): DatabaseSchema | undefined;
  databaseById(id: number): DatabaseSchema | undefined;
  tableById(id: number): TableSchema | undefined;
  /** Also that of a deleted table whose data are still there. */
  keptTableById(id: number): TableSchema | undefined;
  /** False: no table can have had this id, as far as the catalog remembers. */
  hasGivenTableId(id: number): boolean;
  /** Tables that are made from here on have greater ids: somebody else remembers one that had this. */
  passTableId(id: number): void;
  /** Deleted databases and tables that are still known. */
  readonly deleted: DeletedResources;
  /** Active databases by name, ascending, `_internal` among them. */
  databases(): readonly DatabaseSchema[];
  /** Creates it when absent. Throws `database_limit_reached`. */
  ensureDatabase(name: string): Promise<DatabaseSchema>;
  /**
   * `retentionNs` as in `DatabaseSchema`. Throws `database_name_invalid`, `resource_exists`, `database_limit_reached`.
   */
  createDatabase(name: string, retentionNs: bigint | undefined): Promise<DatabaseSchema>;
  /**
   * Checks parsed tables against the schema in order of the lines and creates what is missing, the database
   * included. Synchronous (no promise) when nothing has to be created and few rows have to be looked at one by one: the usual
   * case must not wait. With
   * `allOrNothing` a refusal, here or in `alreadyRefused`, creates nothing at all.
   *
   * What one parser read must be shown here in the order in which it was read, all of it (or the parser forgets its
   * tag sets): a known series is trusted to have been looked at before. Throws, at once or through the promise,
   * `database_limit_reached`, `policy_limit_reached` and `internal_database`.
   * Source: tsdb-http, "Schema on write, names, limits".
   */
  admit(request: {
    readonly database: string;
    /** The server writes into its own database. */
    readonly isOwn?: boolean;
    /** Of a writer who may fill a part of the limits alone (`WRITERS_PART`). */
    readonly isLimited?: boolean;
    readonly tables: readonly ParsedTable[];
    readonly allOrNothing: boolean;
    readonly alreadyRefused: readonly RefusedLine[];
    /** Tag sets the parser knows, for rows whose series is not in `newSeries`. */
    readonly seriesOf: (
      table: ParsedTable,
      series: number,
    ) => { readonly tagKeys: readonly string[] };
  }): Admission | Promise<Admission>;
}
