import {
  type DuckDBDataChunk,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  DuckDBVector,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { ColumnVector, OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import type { MemoryDrain } from '@plinth/tsdb-model/memory/memory-drain.js';
import { isNested, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { runThrough, type Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import { toCell } from './decode-cell.js';
import { decodeTextColumn } from './decode-texts.js';
import { NestedCells } from './nested-cells.js';
import { NestedCount } from './nested-limit.js';
import { endsOfPieces } from './text-pieces.js';

/** The public part of the binding's numeric vectors, whose values are a typed array. */
interface TypedVector {
  readonly items: ArrayLike<unknown>;
}

/** Decodes the chunks of one statement to columns in the representation of the `SqlType` table. */
export class ChunkDecoder {
  readonly #columns: readonly OutputColumn[];
  readonly #drain: MemoryDrain;
  /**
   * Types of the columns, cached from the first chunk, because reading them takes half of the time
   * to decode a column.
   */
  readonly #types: (DuckDBType | undefined)[] = [];

  readonly #isNested: boolean;

  constructor(columns: readonly OutputColumn[], drain: MemoryDrain) {
    this.#columns = columns;
    this.#isNested = columns.some(({ type }) => isNested(type));
    this.#drain = drain;
  }

  /**
   * Decodes a chunk, in pieces if its strings are long; each piece is copied when it is requested.
   * The chunk must not be read afterwards, because its other memory is freed. Nested values are
   * decoded in steps, until the signal is aborted.
   */
  async *decode(
    chunk: DuckDBDataChunk,
    queryContext?: { readonly signal: AbortSignal },
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const task = this.#isNested ? new TimeSlicedTask(queryContext) : undefined;
    const run = <T>(steps: Steps<T>): T | Promise<T> =>
      task === undefined ? runThrough(steps) : task.run(steps);
    const rowCount = chunk.rowCount;
    const vectors = this.#columns.map((_, index) => {
      const raw = duckdb.data_chunk_get_vector(chunk.chunk, index);
      const vector = DuckDBVector.create(raw, rowCount, this.#types[index]);
      this.#types[index] ??= vector.type;
      return vector;
    });
    const ends = endsOfPieces(vectors, rowCount);
    if (ends.length === 1) {
      const { piece, hasMore } = await run(this.#piece(vectors, rowCount, true));
      // The chunk itself is freed by the garbage collector.
      if (hasMore) chunk.reset();
      yield piece;
      return;
    }
    try {
      let from = 0;
      for (const end of ends) {
        const rows = vectors.map((vector) => vector.slice(from, end - from));
        yield (await run(this.#piece(rows, end - from, false))).piece;
        from = end;
      }
    } finally {
      chunk.reset();
    }
  }

  /** @param isWhole true if the vectors do not share their memory, so that it can be freed. */
  *#piece(
    vectors: readonly DuckDBVector<DuckDBValue>[],
    rowCount: number,
    isWhole: boolean,
  ): Steps<{ readonly piece: ResultChunk; readonly hasMore: boolean }> {
    const copies: ArrayBuffer[] = [];
    let hasMore = false;
    const nested = new NestedCount();
    const nestedCells = new NestedCells();
    const columns: ColumnVector[] = [];
    for (const [index, vector] of vectors.entries()) {
      const { type } = this.#columns[index] as OutputColumn; // each column has one vector
      const validity = decodeValidity(vector, rowCount);
      if (validity !== undefined && isWhole) copies.push(validity.buffer);
      if (vector.type.typeId === DuckDBTypeId.VARCHAR) {
        const texts = decodeTextColumn(vector, rowCount, validity, this.#drain);
        hasMore ||= texts instanceof TextSpans;
        if (texts instanceof TextSpans) copies.push(...texts.memory);
        else if (isWhole) copies.push(texts.strings.buffer as ArrayBuffer);
        columns.push(texts);
        continue;
      }
      nested.add(vector);
      const values = isNested(type)
        ? yield* nestedCells.of(vector, type)
        : decodeValues(vector, type, rowCount);
      if (!ArrayBuffer.isView(values)) hasMore = true;
      else if (isWhole) copies.push(values.buffer as ArrayBuffer);
      columns.push({ values, validity });
    }
    const piece = { rowCount, columns, release: () => this.#drain.free(...copies.splice(0)) };
    return { piece, hasMore };
  }
}

const TYPED = new Set<DuckDBTypeId>([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DATE,
  DuckDBTypeId.TIMESTAMP_NS,
]);

function decodeValues(
  vector: DuckDBVector<DuckDBValue>,
  type: SqlType,
  rowCount: number,
): ArrayLike<unknown> {
  const duckDbType: DuckDBType = vector.type;
  // The binding declares `items` only on concrete classes; these type ids are exactly the classes
  // that have it.
  if (TYPED.has(duckDbType.typeId)) return (vector as unknown as TypedVector).items;
  if (duckDbType.typeId === DuckDBTypeId.BOOLEAN) {
    const flags = new Uint8Array(rowCount);
    for (let row = 0; row < rowCount; row++) flags[row] = vector.getItem(row) === true ? 1 : 0;
    return flags;
  }
  const cells = new Array<unknown>(rowCount);
  for (let row = 0; row < rowCount; row++) cells[row] = toCell(vector.getItem(row), type);
  return cells;
}

/**
 * `validity.data` is DuckDB's bitmap with 64 rows per word; a set bit means present. It is null if
 * no value is missing.
 */
function decodeValidity(
  vector: DuckDBVector<DuckDBValue>,
  rowCount: number,
): Uint8Array<ArrayBuffer> | undefined {
  const { validity } = vector as unknown as {
    validity?: {
      readonly data: BigUint64Array<ArrayBuffer> | null;
      readonly offset: number;
      itemValid(row: number): boolean;
    };
  };
  if (validity === undefined || validity.data === null) return undefined;
  if (validity.offset > 0) {
    const bits = new Uint8Array((rowCount + 7) >> 3);
    for (let row = 0; row < rowCount; row++) {
      if (validity.itemValid(row)) bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
    }
    return bits;
  }
  const words = validity.data;
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  return bytes.subarray(0, (rowCount + 7) >> 3);
}
