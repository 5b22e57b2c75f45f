import type { Clock, FileSystem, Logger, Random } from '@plinth/kernel';
import type { Caches } from '@plinth/tsdb-caches/caches.js';
import type { TableFacts } from '@plinth/tsdb-catalog/overview.js';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { EngineStorage } from '@plinth/tsdb-engine/engine-storage.js';
import type { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import type { Influxql } from '@plinth/tsdb-influxql/influxql.js';
import type { Statistic } from '@plinth/tsdb-influxql/show/show-server.js';
import type { LiveQueries } from '@plinth/tsdb-live-queries/live-queries.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { Engine, WriteOutcome } from '@plinth/tsdb-model/engine.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import type { WideQueries } from '@plinth/tsdb-open-tables/wide/wide-queries.js';
import type { ContinuousQueries } from '../domain/continuous-queries/continuous-queries.js';
import type { Conversions } from '../domain/conversions/conversions.js';
import type { SavedQueries } from '../domain/saved-queries/saved-queries.js';
import type { AuditTrail } from '../domain/system-tables/tables/audit.js';
import type { Processing } from '../open/open-processing.js';
import type { TsdbSettings } from '../settings/config.js';
import type { BodyPool } from './body-pool.js';
import type { TextFormats } from './formats/index.js';
import type { PiecePool } from './formats/piece-pool.js';
import type { RouteBuilder } from './route-builder.js';
import type { TokenManagement } from './v2/token-management.js';

/** Dependencies of the routes. */
export interface RouteDeps {
  readonly engine: Engine;
  readonly catalog: RelationalCatalog;
  readonly influxql: Influxql;
  readonly queryLog: QueryLog;
  readonly savedQueries: SavedQueries;
  /** Absent if changes are not audited. */
  readonly audit?: AuditTrail | undefined;
  /** Properties of tables in addition to their columns. */
  readonly facts: TableFacts;
  /** File and memory state for operators, with actions on it. */
  readonly storage: EngineStorage;
  readonly caches: Caches;
  readonly continuousQueries: ContinuousQueries;
  readonly conversions: Conversions;
  readonly liveQueries: LiveQueries;
  readonly processing: Processing;
  readonly openTables: OpenTables;
  readonly wideQueries: WideQueries;
  readonly settings: TsdbSettings;
  /** Absent if the server requires no tokens. */
  readonly tokenManagement?: TokenManagement | undefined;
  /** Whether principals must present a token. */
  readonly isAuthRequired: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly routeBuilder: RouteBuilder;
  /** Memory for large bodies. */
  readonly bodies: BodyPool;
  readonly formats: TextFormats;
  /** Memory for long responses. */
  readonly pieces: PiecePool;
  /** Reads the Parquet files that DuckDB writes. */
  readonly files: FileSystem;
  /** Returns server statistics in the groups of a 1.x server. */
  statistics(): Promise<readonly Statistic[]>;
  /** Returns the reason why the server is not ready for requests; `undefined` if it is. */
  obstacle(): Promise<string | undefined>;
  /** Called for every write that reached the storage engine; updates counters. */
  onWritten(outcome: WriteOutcome, bodySizeBytes: number): void;
}

/** Dependencies of Flight calls. */
export interface FlightDeps extends RouteDeps {
  /** Access of the caller. */
  readonly access: DatabaseAccess;
}
