import { type DuckDBValue, DuckDBVarCharVector, type DuckDBVector } from '@duckdb/node-api';
import { tsdbError } from '../../../errors.js';
import { CELL_BYTES } from '../../../model/columns/text-cells.js';

/** Longest text of an answer: it is written in one go, with the event loop held. Stored texts have at most 1 MiB. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** Texts that are copied out of the engine together. A joined row repeats a text that the engine itself holds but once. */
const MAX_PIECE_BYTES = 16 * 1024 * 1024;

/**
 * Where the rows of a chunk end that are handed out together, the last of them its row count. Throws `execution_error` for a
 * text that is too long to be handed out.
 */
export function endsOfPieces(
  vectors: readonly DuckDBVector<DuckDBValue>[],
  rowCount: number,
): readonly number[] {
  const sizes = new Float64Array(rowCount);
  let sum = 0;
  for (const vector of vectors) {
    if (vector instanceof DuckDBVarCharVector) sum += addSizes(vector, sizes);
  }
  if (sum <= MAX_PIECE_BYTES) return [rowCount];
  const ends: number[] = [];
  let pieceBytes = 0;
  for (const [row, sizeBytes] of sizes.entries()) {
    if (pieceBytes > 0 && pieceBytes + sizeBytes > MAX_PIECE_BYTES) {
      ends.push(row);
      pieceBytes = 0;
    }
    pieceBytes += sizeBytes;
  }
  return [...ends, rowCount];
}

/** Bytes of the texts of a column, each added to `sizes` as well. */
export function addSizes(vector: DuckDBVarCharVector, sizes?: Float64Array): number {
  const { dataView, validity } = vector as unknown as {
    readonly dataView: DataView<ArrayBuffer>;
    readonly validity: { readonly data: unknown; itemValid(row: number): boolean };
  };
  let sum = 0;
  for (let row = 0; row < vector.itemCount; row++) {
    // The cell of a NULL holds anything.
    if (validity.data !== null && !validity.itemValid(row)) continue;
    const sizeBytes = dataView.getUint32(row * CELL_BYTES, true);
    if (sizeBytes > MAX_TEXT_BYTES) {
      throw tsdbError(
        'execution_error',
        `Resources exhausted: a text of ${sizeBytes} bytes is too long for a result, which takes up to ${MAX_TEXT_BYTES} bytes; ask for pieces of it, for example by substr()`,
      );
    }
    sum += sizeBytes;
    if (sizes !== undefined) sizes[row] = (sizes[row] as number) + sizeBytes;
  }
  return sum;
}
