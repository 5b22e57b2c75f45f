import { Memo } from '@plinth/kernel';
import type { RowBatch } from '../../../model/columns/row-batch.js';
import type { ScanRequest } from '../../../model/scan.js';

/** What is left of an earlier size when shorter texts are written. */
const KEPT_SHARE = 0.99;
/** Sets of columns whose texts were read. */
const MAX_READ_COUNT = 64;

/** About how long the texts of a table are, so that its rows can be asked for in pieces that fit into memory. */
export class TextSizes {
  /** By the columns' ids: what was written by this process, which long texts raise at once. */
  readonly #written = new Map<number, number>();
  #writtenRows = 0;
  /** What answers told that read rows of files: bytes of a row, by the columns that were read. */
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
   * What the texts of a row take that a scan reads; `undefined`: some of them are older than this process, and nobody has
   * looked at them yet.
   * @param storedRows that the scan may read.
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
