import type {
  Clock,
  CommitLog,
  FileSystem,
  Leases,
  LogCatalog,
  Logger,
  Metrics,
  ObjectStore,
  Principal,
  Random,
  RelationalStore,
  ReportEvent,
  RequestSpan,
  SecretBox,
  WriteRoom,
} from '@plinth/kernel';
import type { UserDirectory } from './domain/influxql/users/user-directory.js';
import type { AuditTrail } from './domain/system-tables/tables/audit.js';
import type { TokenDirectory } from './domain/system-tables/tables/tokens.js';
import type { TsdbSettings } from './settings/config.js';
import type { EngineWatch } from './storage/duckdb/instance/engine-watch.js';

/** Dependencies that the server passes to the service. */
export interface TsdbDeps {
  readonly settings: TsdbSettings;
  /** Label of this node in `system.nodes`. */
  readonly nodeId: string;
  /** For `system.tokens`. */
  readonly tokens: TokenDirectory;
  /** For statements about users; absent if there are none. */
  readonly users?: UserDirectory | undefined;
  /**
   * Whether the token or user behind a principal still exists; queries of revoked ones are
   * cancelled.
   */
  readonly isCurrent?: ((principal: Principal) => boolean) | undefined;
  /**
   * Records changes made by statements, and receives all change events; absent without an audit
   * log.
   */
  readonly audit?: AuditTrail | undefined;
  /** Folder of the node; DuckDB's files are below it. */
  readonly dataDir: string;
  readonly fileSystem: FileSystem;
  readonly relational: RelationalStore;
  /** Encrypts trigger arguments. */
  readonly secrets: SecretBox;
  /** Its objects must be readable below `dataDir`. */
  readonly objects: ObjectStore;
  /** Opens the write-ahead log in `folder`. */
  readonly openLog: (options: {
    readonly folder: string;
    readonly nodeUuid: string;
    readonly repair: boolean;
    /** Lowest number for new files. */
    readonly firstFile: number;
    /** This file or a later one must exist. */
    readonly knownFile: number;
    /** Time at which a record was written. */
    readonly writtenMs: (payload: Uint8Array) => number | undefined;
  }) => Promise<CommitLog>;
  /** Free space on the disk of `dataDir`; absent means unlimited. */
  readonly room?: WriteRoom | undefined;
  readonly leases: Leases;
  readonly metrics: Metrics;
  /** Span of the current request; absent without tracing. */
  readonly currentSpan?: (() => RequestSpan | undefined) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Receives events about changed databases, tables and triggers; optional. */
  readonly report?: ReportEvent | undefined;
  /** For tests: makes DuckDB calls fail. */
  readonly engineWatch?: EngineWatch | undefined;
  /** For tests: number of tables that are flushed together. */
  readonly flushGroupTables?: number | undefined;
  /** For tests: rows of a segment per unit in memory. */
  readonly segmentUnitRows?: number | undefined;
  /** For tests: number of small tables per flush. */
  readonly flushSmallTables?: number | undefined;
}
