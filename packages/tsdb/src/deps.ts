import type {
  BucketStore,
  Clock,
  CommitLog,
  FileSystem,
  FolderObjectStore,
  FreeDiskSpace,
  Leases,
  LogCheckpointStore,
  Logger,
  Metrics,
  Principal,
  Random,
  RelationalStore,
  ReportEvent,
  RequestSpan,
  SecretBox,
} from '@plinth/kernel';
import type { UserDirectory } from '@plinth/tsdb-influxql/users/user-directory.js';
import type { OpenTablesSettings } from '@plinth/tsdb-open-tables/settings.js';
import type { QuerySettings } from '@plinth/tsdb-open-tables/wide/settings.js';
import type { DuckDbWatch } from '@plinth/tsdb-storage/duckdb/instance/duckdb-watch.js';
import type { AuditTrail } from './domain/system-tables/tables/audit.js';
import type { TokenDirectory } from './domain/system-tables/tables/tokens.js';
import type { TokenManagement } from './routes/v2/token-management.js';
import type { TsdbSettings } from './settings/config.js';

/** The dependencies that the server provides to the service. */
export interface TsdbDeps {
  readonly settings: TsdbSettings;
  readonly openTables: OpenTablesSettings;
  readonly query: QuerySettings;
  /** Label of this node in `system.nodes`. */
  readonly nodeId: string;
  /** Lists the tokens in `system.tokens`. */
  readonly tokens: TokenDirectory;
  /** For 2.x clients; absent if the server requires no tokens. */
  readonly tokenManagement?: TokenManagement | undefined;
  /** Users for statements that manage users; absent if user management is not available. */
  readonly users?: UserDirectory | undefined;
  /** Whether the token or user of a principal still exists. If not, its running queries are stopped. */
  readonly isCurrent?: ((principal: Principal) => boolean) | undefined;
  /** Records changes made by statements and publishes all changes; changes are not recorded when it is absent. */
  readonly audit?: AuditTrail | undefined;
  /** Folder of the node; also contains DuckDB's files. */
  readonly dataDir: string;
  readonly fileSystem: FileSystem;
  readonly relational: RelationalStore;
  /** Encrypts arguments of triggers. */
  readonly secrets: SecretBox;
  /** The objects must be readable below `dataDir`. */
  readonly objects: FolderObjectStore;
  /**
   * Object store for published tables that readers on other machines use; absent if they are published in the data
   * folder.
   */
  readonly bucket?:
    | {
        readonly store: BucketStore;
        /** Returns the id of the data folder; see `BucketOwner`. */
        readonly folderId: () => Promise<string>;
      }
    | undefined;
  /** Opens the write-ahead log in `folder`. */
  readonly openLog: (options: {
    readonly folder: string;
    readonly nodeUuid: string;
    /** Folder for removed files, up to a total size. */
    readonly retained: { readonly folder: string; readonly maxBytes: number };
    readonly repair: boolean;
    /** Number of the first new log file. */
    readonly firstFile: number;
    readonly logCheckpoint: LogCheckpointStore;
    /** Returns the time at which a record was written. */
    readonly writtenMs: (payload: Uint8Array) => number | undefined;
    /** Describes the rows of a lost record, whose payload may be corrupt. */
    readonly describe: (payload: Uint8Array) => string | undefined;
  }) => Promise<CommitLog>;
  /** Free space on the disk of `dataDir`; absent means that there is always enough. */
  readonly diskSpace?: FreeDiskSpace | undefined;
  readonly leases: Leases;
  readonly metrics: Metrics;
  /** Returns the span of the current request; absent if tracing is disabled. */
  readonly currentSpan?: (() => RequestSpan | undefined) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Receives changes of databases, tables and triggers; `undefined` if changes are not reported. */
  readonly report?: ReportEvent | undefined;
  /** Tests only: makes DuckDB calls fail. */
  readonly duckDbWatch?: DuckDbWatch | undefined;
  /** Tests only: number of tables flushed together. */
  readonly flushGroupTables?: number | undefined;
  /** Tests only: number of segment rows that are cached as one range. */
  readonly cachedRangeRows?: number | undefined;
  /** Tests only: number of small tables that are flushed together. */
  readonly flushSmallTables?: number | undefined;
}
