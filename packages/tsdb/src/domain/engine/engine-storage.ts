import type { TableSchema } from '../../model/schema.js';
import type { BackgroundWork } from './background-work.js';
import type { TimeSpan } from './compaction/choose-merge.js';
import type { CompactionState } from './compaction/compactor.js';
import type { WorkState } from './flush/work-progress.js';
import type { TableStore } from './table/table-store.js';
import type { WriteBuffer } from './write/write-buffer.js';

/** Where rows are that no file has, and what moves them. */
export interface StorageState {
  readonly bufferedBytes: number;
  /** Since the first of them came. */
  readonly bufferedMs: number;
  readonly logBytes: number;
  readonly logFileCount: number;
  /** Why no rows can be taken or moved. */
  readonly obstacle: string | undefined;
  readonly flush: WorkState;
  readonly compaction: CompactionState;
}

/** What an operator sees of the engine's storage, and can ask of it. */
export class EngineStorage {
  readonly #buffer: WriteBuffer;
  readonly #background: BackgroundWork;
  readonly #storeOf: (schema: TableSchema) => TableStore;

  constructor(options: {
    readonly buffer: WriteBuffer;
    readonly background: BackgroundWork;
    readonly storeOf: (schema: TableSchema) => TableStore;
  }) {
    this.#buffer = options.buffer;
    this.#background = options.background;
    this.#storeOf = options.storeOf;
  }

  state(): StorageState {
    const { sizeBytes, fileCount } = this.#buffer.logLength;
    return {
      bufferedBytes: this.#buffer.sizeBytes,
      bufferedMs: this.#buffer.generationAgeMs,
      logBytes: sizeBytes,
      logFileCount: fileCount,
      obstacle: this.#buffer.obstacle?.message,
      flush: this.#background.flusher.state,
      compaction: this.#background.compactor.state,
    };
  }

  /** Starts to write all rows in memory to files. False: nothing can be moved while the log is read-only. */
  flushSoon(): boolean {
    if (this.#buffer.isReadOnly) return false;
    this.#background.flusher.flushNow();
    return true;
  }

  /** Starts to merge the files of a table, also where they are few. False: too many tables wait for it. */
  compactSoon(schema: TableSchema, span: TimeSpan): boolean {
    return this.#background.compactor.compactSoon(this.#storeOf(schema), span);
  }
}
