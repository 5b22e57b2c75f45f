import { Memo } from '@plinth/kernel';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';

/** Decay factor of earlier sizes when shorter strings are written. */
const KEPT_SHARE = 0.99;
/** Maximum number of remembered column sets. */
const MAX_READ_COUNT = 64;

/**
 * Estimates string lengths of a table, so that its rows can be read in parts that fit in memory.
 */
export class TextSizes {
  /**
   * Sizes of strings written by this process, by column id; long strings raise them immediately.
   */
  readonly #written = new Map<number, number>();
  #writtenRows = 0;
  /** Bytes per row in results read from files, by the columns that were read. */
  readonly #read = new Memo<string, number>({ maxCount: MAX_READ_COUNT });

  noteWritten({ rowCount, fields }: RowBatch): void {
    if (rowCount === 0) return;
    this.#writtenRows += rowCount;
    for (const { column, data } of fields) {
      if (data.type !== 'utf8') continue;
      const size = ((data.offsets[rowCount] as number) - (data.offsets[0] as number)) / rowCount;
      const known = this.#written.get(column.id) ?? 0;
      this.#written.set(column.id, Math.max(size, known * KEPT_SHARE));
    }
  }

  noteRead({ columns }: Pick<ScanRequest, 'columns'>, rowBytes: number): void {
    this.#read.set(keyOf(columns), rowBytes);
  }

  /**
   * Returns the bytes per row of the strings that a scan reads. `undefined` if some strings were
   * written before this process started and none have been read since.
   * @param storedRows number of stored rows that the scan may read.
   */
  rowBytes(
    { columns, table }: Pick<ScanRequest, 'columns' | 'table'>,
    storedRows: number,
  ): number | undefined {
    const read = this.#read.get(keyOf(columns));
    if (read === undefined && storedRows > this.#writtenRows) return undefined;
    const written = columns.reduce((sum, name) => {
      const id = table.columns.get(name)?.id;
      return sum + (id === undefined ? 0 : (this.#written.get(id) ?? 0));
    }, 0);
    return Math.max(written, read ?? 0);
  }
}

const keyOf = (columns: readonly string[]): string => JSON.stringify(columns);
