import { type DuckDBValue, DuckDBVarCharVector, type DuckDBVector } from '@duckdb/node-api';
import { STRING_T_BYTES } from '@plinth/tsdb-model/columns/inlined-texts.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Maximum length of a string in a result. It is written in one step, which blocks the event loop.
 * Stored strings have at most 1 MiB.
 */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/**
 * Maximum bytes of strings copied from DuckDB together. A joined row repeats a string that DuckDB
 * stores only once.
 */
const MAX_PIECE_BYTES = 16 * 1024 * 1024;

/**
 * Returns the end rows of the pieces of a chunk; the last one is its row count. Throws
 * `execution_error` for a string that exceeds the limit.
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

/** Returns the bytes of a column's strings and adds each to `sizes`. */
export function addSizes(vector: DuckDBVarCharVector, sizes?: Float64Array): number {
  const { dataView, validity } = vector as unknown as {
    readonly dataView: DataView<ArrayBuffer>;
    readonly validity: { readonly data: unknown; itemValid(row: number): boolean };
  };
  let sum = 0;
  for (let row = 0; row < vector.itemCount; row++) {
    // The `string_t` of a NULL is undefined.
    if (validity.data !== null && !validity.itemValid(row)) continue;
    const sizeBytes = dataView.getUint32(row * STRING_T_BYTES, true);
    if (sizeBytes > MAX_TEXT_BYTES) {
      throw tsdbError(
        'execution_error',
        `Resources exhausted: a string of ${sizeBytes} bytes exceeds the result limit of ${MAX_TEXT_BYTES} bytes; query parts of the string, for example with substr()`,
      );
    }
    sum += sizeBytes;
    if (sizes !== undefined) sizes[row] = (sizes[row] as number) + sizeBytes;
  }
  return sum;
}
