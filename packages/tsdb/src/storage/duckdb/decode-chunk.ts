import {
  type DuckDBDataChunk,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api';
import type { OutputColumn, ResultChunk } from '../../model/result.js';
import type { SqlType } from '../../model/sql-type.js';
import { toCell } from './decode-cell.js';
import { decodeTextColumn } from './decode-texts.js';
import { checkNesting } from './nested-limit.js';

/** The public shape of the binding's numeric vectors: their values are already a typed array. */
interface TypedVector {
  readonly items: ArrayLike<unknown>;
}

/** The engine's chunk as columns in the form that `SqlType`'s table lays down. */
export function decodeChunk(chunk: DuckDBDataChunk, columns: readonly OutputColumn[]): ResultChunk {
  const rowCount = chunk.rowCount;
  return {
    rowCount,
    columns: columns.map((column, index) => {
      const vector = chunk.getColumnVector(index);
      const validity = decodeValidity(vector, rowCount);
      if (vector.type.typeId === DuckDBTypeId.VARCHAR) {
        return decodeTextColumn(vector, rowCount, validity);
      }
      return { values: decodeValues(vector, column.type, rowCount), validity };
    }),
  };
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
  const engineType: DuckDBType = vector.type;
  // The binding types `items` on each concrete class only; the ids above are exactly the classes that have it.
  if (TYPED.has(engineType.typeId)) return (vector as unknown as TypedVector).items;
  if (engineType.typeId === DuckDBTypeId.BOOLEAN) {
    const flags = new Uint8Array(rowCount);
    for (let row = 0; row < rowCount; row++) flags[row] = vector.getItem(row) === true ? 1 : 0;
    return flags;
  }
  checkNesting(vector);
  const cells = new Array<unknown>(rowCount);
  for (let row = 0; row < rowCount; row++) cells[row] = toCell(vector.getItem(row), type);
  return cells;
}

/** `validity.data` is the engine's bitmap, 64 rows a word, bit set = present; null when nothing is missing. */
function decodeValidity(
  vector: DuckDBVector<DuckDBValue>,
  rowCount: number,
): Uint8Array | undefined {
  const { validity } = vector as unknown as {
    validity?: { data: BigUint64Array | null; itemValid(index: number): boolean };
  };
  if (validity === undefined || validity.data === null) return undefined;
  const words = validity.data;
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  return bytes.subarray(0, (rowCount + 7) >> 3);
}
