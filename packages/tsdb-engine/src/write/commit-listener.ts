import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { SeriesIndex } from '../series/series-index.js';

/** Rows of one table that became durable together. */
export interface CommittedRows {
  readonly table: string;
  readonly batch: RowBatch;
  /** Contains the tags of the batch's series. */
  readonly index: SeriesIndex;
}

/**
 * Notified of the durable rows of each write. Called within the write, so it must only queue work. Triggers use it; live
 * queries use `RecordListener`, which follows the order of the log.
 */
export interface CommitListener {
  /** Returns false if the listener ignores the database. Called for every write. */
  wants(databaseId: number): boolean;
  /** @param depth as `WriteRequest.pluginDepth`; 0 for client writes. */
  committed(databaseId: number, rows: readonly CommittedRows[], depth: number): void;
}
