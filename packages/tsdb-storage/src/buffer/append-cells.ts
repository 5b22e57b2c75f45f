import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { appendChunks, CHUNK_ROWS, newChunk } from './appender.js';

export type CellColumn =
  | { readonly kind: 'int64'; readonly values: BigInt64Array }
  /**
   * Numbers in the column's width. Bit `i & 7` of `validity[i >> 3]` is set if row i has a value.
   */
  | {
      readonly kind: 'fixed';
      readonly values: Float64Array | BigInt64Array | BigUint64Array | Uint8Array;
      readonly validity: Uint8Array;
    }
  | { readonly kind: 'text'; readonly cells: readonly (string | undefined)[] };

/**
 * Appends the rows of a small table whose columns are exactly `columns`. They are visible when the
 * call returns.
 */
export function appendRows(options: {
  readonly connection: DuckDBConnection;
  readonly table: string;
  readonly rowCount: number;
  readonly columns: readonly CellColumn[];
}): void {
  const { connection, table, rowCount, columns } = options;
  appendChunks(connection, table, (appender, append) => {
    const chunk = newChunk(appender, columns.length);
    for (let from = 0; from < rowCount; from += CHUNK_ROWS) {
      const rows = Math.min(CHUNK_ROWS, rowCount - from);
      duckdb.data_chunk_set_size(chunk, rows);
      columns.forEach((column, index) => {
        fill(duckdb.data_chunk_get_vector(chunk, index), column, from, rows);
      });
      append(chunk);
      duckdb.data_chunk_reset(chunk);
    }
  });
}

function fill(vector: duckdb.Vector, column: CellColumn, from: number, rows: number): void {
  if (column.kind === 'fixed') {
    const { values, validity } = column;
    const width = values.BYTES_PER_ELEMENT;
    // The caller creates these arrays on plain ArrayBuffers.
    const bytes = values.buffer as ArrayBuffer;
    duckdb.copy_data_to_vector(vector, 0, bytes, values.byteOffset + from * width, rows * width);
    duckdb.vector_ensure_validity_writable(vector);
    const bits = validity.buffer as ArrayBuffer;
    const bitsAt = validity.byteOffset + (from >> 3); // a chunk always starts at a byte boundary
    duckdb.copy_data_to_vector_validity(vector, 0, bits, bitsAt, (rows + 7) >> 3);
    return;
  }
  if (column.kind === 'int64') {
    const { values } = column;
    // The caller creates this array on a plain ArrayBuffer.
    duckdb.copy_data_to_vector(
      vector,
      0,
      values.buffer as ArrayBuffer,
      values.byteOffset + from * 8,
      rows * 8,
    );
    return;
  }
  const bitmap = new Uint8Array(CHUNK_ROWS >> 3);
  let missing = 0;
  for (let i = 0; i < rows; i++) {
    const cell = column.cells[from + i];
    if (cell === undefined) {
      missing++;
      continue;
    }
    bitmap[i >> 3] = (bitmap[i >> 3] as number) | (1 << (i & 7));
    duckdb.vector_assign_string_element(vector, i, cell);
  }
  if (missing === 0) return;
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, bitmap.buffer, 0, (rows + 7) >> 3);
}
