import type { TableBatch } from './write-buffer.js';

/** Notified of the rows of each log record when they are durable, in the order of the log. */
export interface RecordListener {
  /** Called for every write, when its record is queued. If false, the rows of the table are not reported. */
  wants(tableId: number): boolean;
  /**
   * Called within the write, so it must not do more than select and copy rows: the memory of the
   * batches is reused afterwards.
   */
  recordDurable(seq: bigint, batches: readonly TableBatch[]): void;
}
