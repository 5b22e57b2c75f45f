import type { ParsedTable, RefusedLine } from '../../model/parsed-body.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';

/** What a request may be told about one row: taken, or why not. */
export interface RowRefusal {
  readonly row: number;
  readonly message: string;
  readonly isLimit: boolean;
}

/** One table of a request after the schema check. */
export interface AdmittedTable {
  readonly parsed: ParsedTable;
  /** Schema after the request; holds every column the taken rows use. */
  readonly schema: TableSchema;
  /** Ascending by row; empty in the usual case. */
  readonly refusals: readonly RowRefusal[];
}

export interface Admission {
  readonly database: DatabaseSchema;
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
  /** Active databases by name, ascending, `_internal` among them. */
  databases(): readonly DatabaseSchema[];
  /** Creates it when absent. Throws `DatabaseLimitReached`. */
  ensureDatabase(name: string): Promise<DatabaseSchema>;
  /**
   * Checks parsed tables against the schema in order of the lines and creates what is missing. Synchronous (no
   * promise) when nothing has to be created: the usual case must not wait. With `allOrNothing` a refusal, here or
   * in `alreadyRefused`, creates nothing at all.
   * Source: tsdb-http, "Schema on write, names, limits".
   */
  admit(request: {
    readonly database: string;
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
