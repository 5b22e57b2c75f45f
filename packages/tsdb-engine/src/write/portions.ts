import { type ParsedBatch, sliceRows } from '@plinth/tsdb-model/columns/row-batch.js';

/** Number of tables created or written in one step. Each takes tens of microseconds. */
export const MAX_TABLES_AT_ONCE = 256;
/**
 * Number of cells copied in one step, sufficient for typical bodies. Each takes a few nanoseconds.
 */
const MAX_CELLS = 1024 * 1024;
/**
 * Piece size for larger tables. Columns without a value in a piece cost nothing, which helps wide,
 * sparse tables.
 */
const PIECE_CELLS = 128 * 1024;

/** Cells per row in addition to its fields. */
const ROW_CELLS = 3;

const cellsOf = ({ rowCount, fields }: ParsedBatch): number =>
  rowCount * (fields.length + ROW_CELLS);

/**
 * Divides the tables of a body into portions that are each logged and buffered in one step, in
 * order. Larger tables are only divided when they are reached, because dividing also takes time.
 */
export function* splitIntoPortions<T extends { readonly batch: ParsedBatch }>(
  tables: readonly T[],
): Generator<readonly T[], void, void> {
  let portion: T[] = [];
  let cells = 0;
  for (const table of tables) {
    const more = cellsOf(table.batch);
    if (portion.length > 0 && (portion.length === MAX_TABLES_AT_ONCE || cells + more > MAX_CELLS)) {
      yield portion;
      portion = [];
      cells = 0;
    }
    if (more > MAX_CELLS) {
      for (const piece of splitTable(table)) yield [piece];
      continue;
    }
    portion.push(table);
    cells += more;
  }
  if (portion.length > 0) yield portion;
}

function* splitTable<T extends { readonly batch: ParsedBatch }>(
  table: T,
): Generator<T, void, void> {
  const { batch } = table;
  // Pieces start at a byte boundary of the validity bitmap.
  const step = Math.max(8, Math.floor(PIECE_CELLS / (batch.fields.length + ROW_CELLS)) & ~7);
  for (let from = 0; from < batch.rowCount; from += step) {
    const to = Math.min(from + step, batch.rowCount);
    yield { ...table, batch: sliceRows(batch, from, to) };
  }
}
