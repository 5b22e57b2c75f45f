import type { ColumnCache } from './columns/cache/column-cache.js';
import { ColumnPreload } from './columns/load/column-preload.js';
import { Compactor } from './compaction/compactor.js';
import { HardDeletions } from './deletion/hard-deletions.js';
import { Retention } from './deletion/retention.js';
import type { EngineDeps } from './engine-deps.js';
import type { EngineTables } from './engine-tables.js';
import { Flusher } from './flush/flusher.js';
import { SegmentCommits } from './flush/segment-commits.js';
import type { TableStore } from './table/table-store.js';
import type { WriteSequencer } from './write/write-sequencer.js';

/**
 * Background tasks of the storage engine: flushes, compaction, removal of expired and deleted data,
 * and column preloads.
 */
export class BackgroundWork {
  readonly segmentCommits: SegmentCommits;
  readonly flusher: Flusher;
  readonly compactor: Compactor;
  readonly hardDeletions: HardDeletions;
  readonly #retention: Retention;
  readonly #columnPreload: ColumnPreload;

  constructor(
    deps: EngineDeps,
    components: {
      readonly tables: EngineTables;
      readonly sequencer: WriteSequencer;
      readonly columnCache: ColumnCache;
    },
  ) {
    const { duckDb, files, registry, leases, clock, report, settings } = deps;
    const { sequencer } = components;
    const tables = (): IterableIterator<TableStore> => components.tables.values();
    const visibleFromNs = (store: TableStore): bigint => components.tables.visibleFromNs(store);
    const onFailed = (error: unknown): void => report.backgroundFailed(error);
    this.segmentCommits = new SegmentCommits({ registry, files });
    const hasSpaceFor = deps.hasSpaceFor ?? (() => true);
    const stored = {
      duckDb,
      files,
      segmentCommits: this.segmentCommits,
      hasSpaceFor,
      leases,
      clock,
    };
    this.compactor = new Compactor({
      ...stored,
      registry,
      tables,
      visibleFromNs,
      // A deletion must be kept while the log still contains rows that are already in segments: the next start reads them again.
      mayForgetDeletions: () => !this.flusher.hasRowsInSegmentsAndLog,
      onMerged: () => report.compacted(),
      onFailed: (failure) => report.compactionFailed(failure),
      onError: onFailed,
    });
    this.flusher = new Flusher({
      ...stored,
      sequencer,
      tables,
      settings,
      onFailed: (error, retryMs) => report.flushFailed(error, retryMs),
      onError: onFailed,
      onDeferred: () => report.rowsLeftInLog(),
      onFlushed: (durationMs) => {
        report.flushed(durationMs);
        void this.compactor.compactWhenDue();
      },
    });
    this.#retention = new Retention({
      tables,
      visibleFromNs,
      segmentCommits: this.segmentCommits,
      leases,
      clock,
      intervalMs: settings.retentionCheckIntervalMs,
      onFailed,
    });
    this.hardDeletions = new HardDeletions({
      deletions: deps.deletions,
      registry,
      store: (tableId) => components.tables.find(tableId),
      // The rows are already gone from memory and files; the next flush removes them from the log.
      forget: (tableIds) => {
        for (const id of tableIds) {
          components.tables.forget(id);
          sequencer.forgetTable(id);
        }
        this.flusher.flushSoon();
        deps.onTablesRemoved?.(tableIds);
      },
      leases,
      clock,
      graceMs: settings.deleteGraceMs,
      onFailed,
    });
    this.#columnPreload = new ColumnPreload({
      tables,
      cache: components.columnCache,
      clock,
      writeIdleMs: () => sequencer.idleMs,
      isFlushNear: () => this.flusher.isNear,
      onFailed,
    });
  }

  start(): void {
    this.flusher.start();
    this.compactor.start();
    this.#retention.start();
    this.hardDeletions.start();
    this.#columnPreload.start();
  }

  /** Resolves when all running work has ended. */
  async close(): Promise<void> {
    await this.#columnPreload.close();
    await this.hardDeletions.close();
    await this.#retention.close();
    await this.compactor.close();
    await this.flusher.close();
  }
}
