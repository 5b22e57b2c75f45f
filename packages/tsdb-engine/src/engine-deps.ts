import type { Clock, CommitLog, Leases, Random } from '@plinth/kernel';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { CatalogDeletions } from '@plinth/tsdb-catalog/deletion/catalog-deletions.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { WriteOutcome, WriteRequest } from '@plinth/tsdb-model/engine.js';
import type { VirtualTables } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { Segment, SegmentsOf } from '@plinth/tsdb-model/segment.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { FileVerifier } from '@plinth/tsdb-storage/segments/file-verifier.js';
import type { SegmentFiles, UnknownFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';
import type { FlushSettings } from './flush/flusher.js';
import type { QueryLog } from './query/log/query-log.js';
import type { Planner } from './query/query-path.js';
import type { CommitListener } from './write/commit-listener.js';
import type { BodyReader } from './write/write-path.js';
import type { RecordListener } from './write/write-sequencer.js';

export interface EngineDeps {
  /** For triggers: notified of the rows of each write when they are durable. */
  readonly commitListener?: CommitListener;
  /** For live queries: notified of durable rows in log order. */
  readonly recordListener?: RecordListener;
  readonly catalog: Catalog;
  readonly log: CommitLog;
  readonly duckDb: DuckDbHost;
  readonly files: SegmentFiles;
  readonly verifier: FileVerifier;
  readonly registry: SegmentRegistry;
  /**
   * Whether background work may write this many bytes; absent means always. On a full disk, the
   * remaining space is reserved for deletions.
   */
  readonly hasSpaceFor?: (sizeBytes: number) => boolean;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly deletions: CatalogDeletions;
  readonly reader: BodyReader;
  readonly planner: Planner;
  readonly virtualTables: (
    database: DatabaseSchema,
    options: { readonly access: DatabaseAccess; readonly segmentsOf: SegmentsOf },
  ) => VirtualTables;
  readonly queryLog: QueryLog;
  readonly settings: FlushSettings & {
    readonly hardLimitBytes: number;
    readonly maxConcurrentQueries: number;
    /** 0 disables the limit. */
    readonly queryTimeoutMs: number;
    readonly retentionCheckIntervalMs: number;
    /** Time for which a deleted object without data remains listed. */
    readonly deleteGraceMs: number;
    /** Memory for decoded columns; 0 disables it, and DuckDB runs every query. */
    readonly columnCacheBytes: number;
    /** For tests: rows of a segment per cached range. */
    readonly cachedRangeRows: number | undefined;
    /** If true, startup skips damaged segments. */
    readonly repair: boolean;
  };
  readonly onRowsDeleted: (tableIds: readonly number[]) => void;
  /** Called when the data of these tables was removed permanently. */
  readonly onTablesRemoved?: (tableIds: readonly number[]) => void;
  readonly report: EngineReport;
}

/** Background events, for logs and metrics. */
export interface EngineReport {
  /** Called when rows of a write were not written. */
  rowsRefused(request: WriteRequest, outcome: WriteOutcome): void;
  flushed(durationMs: number): void;
  flushFailed(error: unknown, retryMs: number): void;
  compacted(): void;
  /** The merge is retried later. Other files are merged in the meantime. */
  compactionFailed(failure: {
    readonly error: unknown;
    readonly table: string;
    /** True if the same files failed before. */
    readonly isKnown: boolean;
  }): void;
  /** Called when the node stops before all rows are in files. */
  rowsLeftInLog(): void;
  backgroundFailed(error: unknown): void;
  /** Called once per segment. `table` includes the database. */
  segmentDamaged(segment: Segment, table: string, error: FileDamaged): void;
  indexRebuilt(error: FileDamaged): void;
  segmentLost(segment: Segment, table: string, error: FileDamaged): void;
  unknownFiles(found: UnknownFiles): void;
  replayed(rowCount: number): void;
  /**
   * By table id, the number of log rows that a repair dropped. Either the catalog no longer
   * contains the `table`, or the record with their `tags` is lost.
   */
  rowsLost(
    tables: ReadonlyMap<number, number>,
    loss: {
      readonly without: 'table' | 'tags';
      /** `undefined` for a table that the catalog does not contain. */
      nameOf(tableId: number): string | undefined;
    },
  ): void;
}
