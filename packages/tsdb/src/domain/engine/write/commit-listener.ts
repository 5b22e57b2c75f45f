import type { RowBatch } from '../../../model/columns/row-batch.js';
import type { SeriesIndex } from '../series/series-index.js';

/** Rows of one table that were made durable together. */
export interface CommittedRows {
  readonly table: string;
  readonly batch: RowBatch;
  /** Knows the tags of the batch's series. */
  readonly index: SeriesIndex;
}

/** Hears of rows when they are durable. Called within the write: it must only take note. */
export interface CommitListener {
  /** False: nothing of the database is of interest. Asked for every write. */
  wants(databaseId: number): boolean;
  /** @param depth as `WriteRequest.pluginDepth`; 0 for writes of clients. */
  committed(databaseId: number, rows: readonly CommittedRows[], depth: number): void;
}
