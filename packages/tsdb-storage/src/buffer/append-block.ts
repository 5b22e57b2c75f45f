import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { appendChunks, CHUNK_ROWS, newChunk } from './appender.js';
import type { BlockMemory } from './block-memory.js';
import type { BlockField, BlockNumbers, BlockTexts, RowBlock } from './row-block.js';

/**
 * Appends a block to the DuckDB table `table`, whose columns are `_series, _seq, time`, followed by
 * `columns`. Numbers are copied as arrays; only strings are appended cell by cell. The rows are
 * visible to queries when the call returns.
 * @param seriesIdWords series ids by series ordinal, as pairs of 32-bit words.
 */
export function appendBlock(options: {
  readonly connection: DuckDBConnection;
  readonly table: string;
  readonly columns: readonly Column[];
  readonly block: RowBlock;
  readonly seriesIdWords: Int32Array;
  /** Used only during the call. */
  readonly memory: BlockMemory;
}): void {
  const { connection, table, block, columns, memory } = options;
  const ids = gatherIds(block, options.seriesIdWords, memory);
  appendChunks(connection, table, (appender, append) => {
    const chunk = newChunk(appender, columns.length + 3);
    const vector = (column: number): duckdb.Vector => duckdb.data_chunk_get_vector(chunk, column);
    for (let from = 0; from < block.count; from += CHUNK_ROWS) {
      const rows = Math.min(CHUNK_ROWS, block.count - from);
      duckdb.data_chunk_set_size(chunk, rows);
      copyNumbers(vector(0), ids, from, rows);
      copyNumbers(vector(1), block.seqs, from, rows);
      copyNumbers(vector(2), block.times, from, rows);
      for (let i = 0; i < columns.length; i++) {
        const field = block.fields.get((columns[i] as Column).id);
        fillField(vector(i + 3), field, from, rows, block.count);
      }
      append(chunk);
      duckdb.data_chunk_reset(chunk);
    }
  });
  memory.release(ids.buffer);
}

function gatherIds(
  block: RowBlock,
  seriesIdWords: Int32Array,
  memory: BlockMemory,
): BigInt64Array<ArrayBuffer> {
  const ids = new BigInt64Array(memory.take(block.capacity * 8));
  const words = new Int32Array(ids.buffer);
  for (let row = 0; row < block.count; row++) {
    const ordinal = block.seriesOrdinals[row] as number;
    words[row * 2] = seriesIdWords[ordinal * 2] as number;
    words[row * 2 + 1] = seriesIdWords[ordinal * 2 + 1] as number;
  }
  return ids;
}

function copyNumbers(
  vector: duckdb.Vector,
  values: BlockNumbers,
  from: number,
  rows: number,
): void {
  const width = values.BYTES_PER_ELEMENT;
  duckdb.copy_data_to_vector(
    vector,
    0,
    values.buffer,
    values.byteOffset + from * width,
    rows * width,
  );
}

function fillField(
  vector: duckdb.Vector,
  field: BlockField | undefined,
  from: number,
  rows: number,
  blockRows: number,
): void {
  if (field === undefined) {
    setValidity(vector, NOTHING, 0, rows);
    return;
  }
  if (field.validCount < blockRows) setValidity(vector, field.validity, from >> 3, rows);
  if ('texts' in field.values) fillTexts(vector, field.values, field.validity, from, rows);
  else copyNumbers(vector, field.values, from, rows);
}

/** Zeroed validity bits of one chunk. */
const NOTHING = new Uint8Array(CHUNK_ROWS >> 3);

function setValidity(
  vector: duckdb.Vector,
  bitmap: Uint8Array,
  byteFrom: number,
  rows: number,
): void {
  duckdb.vector_ensure_validity_writable(vector);
  const size = (rows + 7) >> 3;
  duckdb.copy_data_to_vector_validity(
    vector,
    0,
    bitmap.buffer as ArrayBuffer,
    bitmap.byteOffset + byteFrom,
    size,
  );
}

function fillTexts(
  vector: duckdb.Vector,
  { texts }: BlockTexts,
  validity: Uint8Array,
  from: number,
  rows: number,
): void {
  for (let i = 0; i < rows; i++) {
    const row = from + i;
    if (((validity[row >> 3] as number) & (1 << (row & 7))) === 0) continue;
    const text = texts[row];
    if (text !== undefined) duckdb.vector_assign_string_element_len(vector, i, text);
  }
}
