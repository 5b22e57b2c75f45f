import type { Clock, FileSystem, Logger, Random } from '@plinth/kernel';
import type { Caches } from '../domain/caches/caches.js';
import type { DatabaseAccess } from '../domain/catalog/access/database-access.js';
import type { TableFacts } from '../domain/catalog/overview.js';
import type { RelationalCatalog } from '../domain/catalog/relational-catalog.js';
import type { Engine, WriteOutcome } from '../domain/engine/engine.js';
import type { EngineStorage } from '../domain/engine/engine-storage.js';
import type { Influxql } from '../domain/influxql/influxql.js';
import type { Statistic } from '../domain/own-metrics/statistics.js';
import type { SavedQueries } from '../domain/saved-queries/saved-queries.js';
import type { QueryLog } from '../domain/system-tables/query-log.js';
import type { AuditTrail } from '../domain/system-tables/tables/audit.js';
import type { Processing } from '../open/open-processing.js';
import type { TsdbSettings } from '../settings/config.js';
import type { AdminRoutes } from './admin-routes.js';
import type { BodyPool } from './body-pool.js';
import type { TextFormats } from './formats/index.js';
import type { PiecePool } from './formats/piece-pool.js';

/** What the routes of the service work with. */
export interface RouteDeps {
  readonly engine: Engine;
  readonly catalog: RelationalCatalog;
  readonly influxql: Influxql;
  readonly queryLog: QueryLog;
  readonly savedQueries: SavedQueries;
  /** Absent: nobody keeps what is changed. */
  readonly audit?: AuditTrail | undefined;
  /** What is known of tables beside their columns. */
  readonly facts: TableFacts;
  /** What operators see of files and memory, and ask of them. */
  readonly storage: EngineStorage;
  readonly caches: Caches;
  readonly processing: Processing;
  readonly settings: TsdbSettings;
  /** Whether who asks has shown a token. */
  readonly isAuthRequired: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly admin: AdminRoutes;
  /** Memory of large bodies. */
  readonly bodies: BodyPool;
  readonly formats: TextFormats;
  /** Memory of long answers. */
  readonly pieces: PiecePool;
  /** Reads the Parquet files that the engine makes. */
  readonly files: FileSystem;
  /** What the server counts, as a 1.x server groups it. */
  statistics(): Promise<readonly Statistic[]>;
  /** Why the whole server should not be sent requests. */
  obstacle(): Promise<string | undefined>;
  /** Called for every write that reached the engine; for counters. */
  onWritten(outcome: WriteOutcome, bodySizeBytes: number): void;
}

/** What calls of Flight work with. */
export interface FlightDeps extends RouteDeps {
  /** Of who calls. */
  readonly access: DatabaseAccess;
}
