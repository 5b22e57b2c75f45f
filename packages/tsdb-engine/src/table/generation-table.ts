import { MAX_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { batchSizeBytes, type RowBatch, takeRows } from '@plinth/tsdb-model/columns/row-batch.js';
import { BufferTable } from '@plinth/tsdb-storage/buffer/buffer-table.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { Pinned } from '../scan/pinned.js';
import { type Source, tableFrom } from '../scan/sources.js';
import type { SeriesIndex } from '../series/series-index.js';

/**
 * The rows of one table in one generation. `main` contains rows that are later than all earlier rows of their series,
 * and so must be new points. `late` contains all others, which may repeat points in any source.
 */
export class GenerationTable {
  /** The generation with which the table will be flushed; a flush may leave it to the next one. */
  generation: number;
  /** The generation in which its first row was written. */
  readonly firstGeneration: number;
  readonly main: BufferTable;
  readonly late: BufferTable;
  readonly pinned: Pinned;
  minSeq = MAX_INT64;
  maxSeq = 0n;
  /**
   * Number of `late` rows that were compared with everything written before them; queries see only
   * these.
   */
  checkedLateRows = 0;
  /** Size of the rows in the write buffer. */
  sizeBytes = 0;
  readonly #index: SeriesIndex;

  constructor(options: {
    readonly generation: number;
    readonly tableId: number;
    readonly duckDb: DuckDbHost;
    readonly index: SeriesIndex;
    readonly onDisposeFailed: (error: unknown) => void;
  }) {
    const seriesIdWords = (): Int32Array => options.index.seriesIdWords;
    const name = `rows_${options.generation}_${options.tableId}`;
    this.generation = options.generation;
    this.firstGeneration = options.generation;
    this.#index = options.index;
    this.main = new BufferTable({ name, duckDb: options.duckDb, seriesIdWords });
    this.late = new BufferTable({ name: `${name}_late`, duckDb: options.duckDb, seriesIdWords });
    this.pinned = new Pinned(() => {
      Promise.all([this.main.drop(), this.late.drop()]).catch(options.onDisposeFailed);
    });
  }

  get rowCount(): number {
    return this.main.rowCount + this.late.rowCount;
  }

  /** DuckDB memory of the rows, which it does not spill. */
  get duckDbBytes(): number {
    return this.main.duckDbBytes + this.late.duckDbBytes;
  }

  /** DuckDB memory of the rows once all are moved there. */
  get cellBytes(): number {
    return this.main.cellBytes + this.late.cellBytes;
  }

  append(batch: RowBatch, seq: bigint): void {
    const cellsBefore = this.cellBytes;
    this.#append(batch, seq);
    // A new column also adds a cell to each earlier row.
    this.sizeBytes += Math.max(batchSizeBytes(batch), this.cellBytes - cellsBefore);
  }

  #append(batch: RowBatch, seq: bigint): void {
    if (seq < this.minSeq) this.minSeq = seq;
    if (seq > this.maxSeq) this.maxSeq = seq;
    const words = new Int32Array(batch.times.buffer, batch.times.byteOffset, batch.rowCount * 2);
    let lateRows: number[] | undefined;
    for (let row = 0; row < batch.rowCount; row++) {
      if (this.#index.advanceLastTime(batch.seriesOrdinals[row] as number, words, row)) continue;
      lateRows ??= [];
      lateRows.push(row);
    }
    if (lateRows === undefined) {
      this.main.append(batch, seq);
      return;
    }
    this.main.appendAllBut(lateRows, batch, seq);
    this.late.append(takeRows(batch, lateRows), seq);
  }

  mainSource(): Source {
    return {
      kind: 'unique',
      from: tableFrom(this.main.name),
      order: '0',
      where: undefined,
      hasColumn: (id) => this.main.hasColumn(id),
      minTime: this.main.minTime,
      maxTime: this.main.maxTime,
    };
  }

  /** Returns the first `checked` late rows. */
  lateSource(checked = this.checkedLateRows): Source {
    return {
      kind: 'may_repeat',
      from: tableFrom(this.late.name),
      order: 'rowid + 1',
      where: `rowid < ${checked}`,
      hasColumn: (id) => this.late.hasColumn(id),
      minTime: this.late.minTime,
      maxTime: this.late.maxTime,
    };
  }
}
