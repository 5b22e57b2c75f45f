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
import type { UserDirectory } from '@plinth/tsdb-influxql/users/user-directory.js';
import type { EngineWatch } from '@plinth/tsdb-storage/duckdb/instance/engine-watch.js';
import type { AuditTrail } from './domain/system-tables/tables/audit.js';
import type { TokenDirectory } from './domain/system-tables/tables/tokens.js';
import type { TsdbSettings } from './settings/config.js';

/** What the service is given by the server that runs it. */
export interface TsdbDeps {
  readonly settings: TsdbSettings;
  /** Label of this node in `system.nodes`. */
  readonly nodeId: string;
  /** For `system.tokens`. */
  readonly tokens: TokenDirectory;
  /** For statements about users; absent: there are none. */
  readonly users?: UserDirectory | undefined;
  /** Whether the token or user behind a principal still exists: running queries of others end. */
  readonly isCurrent?: ((principal: Principal) => boolean) | undefined;
  /** Records changes made by statements and publishes all changes; changes are not recorded when it is absent. */
  readonly audit?: AuditTrail | undefined;
  /** Folder of the node; DuckDB's files are stored below it. */
  readonly dataDir: string;
  readonly fileSystem: FileSystem;
  readonly relational: RelationalStore;
  /** Encrypts arguments of triggers. */
  readonly secrets: SecretBox;
  /** Its objects must be readable below `dataDir`. */
  readonly objects: ObjectStore;
  /** Opens the write-ahead log in `folder`. */
  readonly openLog: (options: {
    readonly folder: string;
    readonly nodeUuid: string;
    readonly repair: boolean;
    /** Numbers of new files begin here. */
    readonly firstFile: number;
    readonly catalog: LogCatalog;
    /** When a record was written. */
    readonly writtenMs: (payload: Uint8Array) => number | undefined;
  }) => Promise<CommitLog>;
  /** On the disk of `dataDir`; absent: there is always some. */
  readonly room?: WriteRoom | undefined;
  readonly leases: Leases;
  readonly metrics: Metrics;
  /** Of the request that code runs for; absent: none is traced. */
  readonly currentSpan?: (() => RequestSpan | undefined) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Receives changes of databases, tables and triggers; `undefined`: changes are not reported. */
  readonly report?: ReportEvent | undefined;
  /** Tests only: makes DuckDB calls fail. */
  readonly engineWatch?: EngineWatch | undefined;
  /** Tests only: number of tables flushed together. */
  readonly flushGroupTables?: number | undefined;
  /** In tests: so many rows of a segment are kept in memory as one. */
  readonly segmentUnitRows?: number | undefined;
  /** In tests: so many small tables are flushed at a time. */
  readonly flushSmallTables?: number | undefined;
}
