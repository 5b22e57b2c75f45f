import { type RowBatch, sliceRows } from '../../../model/columns/row-batch.js';

/** Tables that may take rows in one go, at some ten microseconds each. */
const MAX_TABLES = 256;
/** Cells that may be copied in one go, at some nanoseconds each: those of usual bodies all at once. */
const MAX_CELLS = 1024 * 1024;
/** Pieces of a larger table: few rows of a wide table lack most of its columns, which cost nothing where no row has them. */
const PIECE_CELLS = 128 * 1024;

/** Numbers of a row beside its fields. */
const ROW_CELLS = 3;

const cellsOf = ({ rowCount, fields }: RowBatch): number => rowCount * (fields.length + ROW_CELLS);

/**
 * Tables of a body in parts of which each is logged and buffered in one go, in their order. Larger tables are cut, when it is
 * their turn: that takes some time as well.
 */
export function* portionsOf<T extends { readonly batch: RowBatch }>(
  tables: readonly T[],
): Generator<readonly T[], void, void> {
  let portion: T[] = [];
  let cells = 0;
  for (const table of tables) {
    const more = cellsOf(table.batch);
    if (portion.length > 0 && (portion.length === MAX_TABLES || cells + more > MAX_CELLS)) {
      yield portion;
      portion = [];
      cells = 0;
    }
    if (more > MAX_CELLS) {
      for (const piece of piecesOf(table)) yield [piece];
      continue;
    }
    portion.push(table);
    cells += more;
  }
  if (portion.length > 0) yield portion;
}

function* piecesOf<T extends { readonly batch: RowBatch }>(table: T): Generator<T, void, void> {
  const { batch } = table;
  // Whole bytes of validity bits.
  const step = Math.max(8, Math.floor(PIECE_CELLS / (batch.fields.length + ROW_CELLS)) & ~7);
  for (let from = 0; from < batch.rowCount; from += step) {
    const to = Math.min(from + step, batch.rowCount);
    yield { ...table, batch: sliceRows(batch, from, to) };
  }
}
