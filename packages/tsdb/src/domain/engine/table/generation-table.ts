import { batchSizeBytes, type RowBatch, takeRows } from '../../../model/columns/row-batch.js';
import { BufferTable } from '../../../storage/buffer/buffer-table.js';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import { Pinned } from '../scan/pinned.js';
import { type Source, tableFrom } from '../scan/sources.js';
import type { SeriesIndex } from '../series/series-index.js';

/**
 * What one generation holds of one table. `main` takes rows that are later than all earlier ones of their series, so that
 * they are new points for certain; `late` takes the rest, which may repeat points that stand anywhere.
 */
export class GenerationTable {
  /** The one that it is flushed with: a flush may leave it to the next. */
  generation: number;
  /** The one in which its first row was written. */
  readonly firstGeneration: number;
  readonly main: BufferTable;
  readonly late: BufferTable;
  readonly pinned: Pinned;
  minSeq = 2n ** 63n - 1n;
  maxSeq = 0n;
  /** So many rows of `late` have been compared with everything written before them; queries see no others of it. */
  checkedLateRows = 0;
  /** What the rows count for in the buffer. */
  sizeBytes = 0;
  readonly #index: SeriesIndex;

  constructor(options: {
    readonly generation: number;
    readonly tableId: number;
    readonly host: DuckDbHost;
    readonly index: SeriesIndex;
    readonly onDisposeFailed: (error: unknown) => void;
  }) {
    const idWords = (): Int32Array => options.index.idWords;
    const name = `rows_${options.generation}_${options.tableId}`;
    this.generation = options.generation;
    this.firstGeneration = options.generation;
    this.#index = options.index;
    this.main = new BufferTable({ name, host: options.host, idWords });
    this.late = new BufferTable({ name: `${name}_late`, host: options.host, idWords });
    this.pinned = new Pinned(() => {
      Promise.all([this.main.drop(), this.late.drop()]).catch(options.onDisposeFailed);
    });
  }

  get rowCount(): number {
    return this.main.rowCount + this.late.rowCount;
  }

  /** What the engine holds for the rows and does not spill. */
  get engineBytes(): number {
    return this.main.engineBytes + this.late.engineBytes;
  }

  /** What the rows take there when all are handed over. */
  get cellBytes(): number {
    return this.main.cellBytes + this.late.cellBytes;
  }

  append(batch: RowBatch, seq: bigint): void {
    const cellsBefore = this.cellBytes;
    this.#append(batch, seq);
    // A new column has a cell for each earlier row, too.
    this.sizeBytes += Math.max(batchSizeBytes(batch), this.cellBytes - cellsBefore);
  }

  #append(batch: RowBatch, seq: bigint): void {
    if (seq < this.minSeq) this.minSeq = seq;
    if (seq > this.maxSeq) this.maxSeq = seq;
    const words = new Int32Array(batch.times.buffer, batch.times.byteOffset, batch.rowCount * 2);
    let lateRows: number[] | undefined;
    for (let row = 0; row < batch.rowCount; row++) {
      if (this.#index.advance(batch.series[row] as number, words, row)) continue;
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

  /** The first `checked` late rows. */
  lateSource(checked = this.checkedLateRows): Source {
    return {
      kind: 'later',
      from: tableFrom(this.late.name),
      order: 'rowid + 1',
      where: `rowid < ${checked}`,
      hasColumn: (id) => this.late.hasColumn(id),
      minTime: this.late.minTime,
      maxTime: this.late.maxTime,
    };
  }
}
