import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { BackgroundWork } from './background-work.js';
import type { CompactionRange } from './compaction/choose-merge.js';
import type { CompactionState } from './compaction/compactor.js';
import type { WorkState } from './flush/work-progress.js';
import type { TableStore } from './table/table-store.js';
import type { WriteSequencer } from './write/write-sequencer.js';

/** State of the rows that are not in files, and of the work that moves them there. */
export interface StorageState {
  readonly bufferedBytes: number;
  /** Time since the first of them arrived. */
  readonly bufferedMs: number;
  readonly logBytes: number;
  readonly logFileCount: number;
  /** The reason why rows cannot be written or flushed. */
  readonly obstacle: string | undefined;
  readonly flush: WorkState;
  readonly compaction: CompactionState;
}

/** Storage status and operations for operators. */
export class EngineStorage {
  readonly #sequencer: WriteSequencer;
  readonly #background: BackgroundWork;
  readonly #storeOf: (schema: TableSchema) => TableStore;

  constructor(options: {
    readonly sequencer: WriteSequencer;
    readonly background: BackgroundWork;
    readonly storeOf: (schema: TableSchema) => TableStore;
  }) {
    this.#sequencer = options.sequencer;
    this.#background = options.background;
    this.#storeOf = options.storeOf;
  }

  state(): StorageState {
    const { sizeBytes, fileCount } = this.#sequencer.logLength;
    return {
      bufferedBytes: this.#sequencer.sizeBytes,
      bufferedMs: this.#sequencer.generationAgeMs,
      logBytes: sizeBytes,
      logFileCount: fileCount,
      obstacle: this.#sequencer.obstacle?.message,
      flush: this.#background.flusher.state,
      compaction: this.#background.compactor.state,
    };
  }

  /** Starts flushing all unflushed rows to files. Returns false while the log is read-only. */
  flushSoon(): boolean {
    if (this.#sequencer.isReadOnly) return false;
    this.#background.flusher.flushNow();
    return true;
  }

  /**
   * Starts merging the files of a table, even if there are few. Returns false if too many tables
   * are waiting.
   */
  compactSoon(schema: TableSchema, range: CompactionRange): boolean {
    return this.#background.compactor.compactSoon(this.#storeOf(schema), range);
  }
}
