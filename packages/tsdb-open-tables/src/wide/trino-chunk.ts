import { invariant } from '@plinth/kernel';
import {
  type ColumnVector,
  type OutputColumn,
  type ResultChunk,
  validityOf,
} from '@plinth/tsdb-model/columns/result.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { invalidResponse } from './trino-page.js';

/** Converts rows of Trino to the columns of a local result. Throws `query_failed` for other types of values. */
export function toChunk(
  columns: readonly OutputColumn[],
  rows: readonly (readonly unknown[])[],
): ResultChunk {
  return {
    rowCount: rows.length,
    columns: columns.map((column, index) => vectorOf(column, rows, index)),
  };
}

/** Reads one value; `undefined` if it has another type. Values have the representation that `SqlType` documents. */
type Read = (value: unknown) => string | number | bigint | undefined;

function vectorOf(
  { name, type }: OutputColumn,
  rows: readonly (readonly unknown[])[],
  index: number,
): ColumnVector {
  const { read, values } = vectorFor(type, rows.length);
  const cells = rows.map((row) => {
    const value = row[index];
    if (value === null) return null;
    const cell = read(value);
    if (cell === undefined) throw invalidResponse(`column ${name} has a value of another type`);
    return cell;
  });
  for (const [row, cell] of cells.entries()) if (cell !== null) values[row] = cell;
  return { values, validity: validityOf(cells, rows.length) };
}

const whole = (value: unknown): bigint | undefined => {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined;
};
/** NaN and infinities are strings, and so are integers of many digits. */
const float = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value !== '' ? Number(value) : undefined;
};
const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
const flag = (value: unknown): number | undefined =>
  typeof value === 'boolean' ? Number(value) : undefined;
const int32 = (value: unknown): number | undefined =>
  typeof value === 'number' && (value | 0) === value ? value : undefined;
const signed = (value: unknown): bigint | undefined => {
  const found = whole(value);
  return found !== undefined && BigInt.asIntN(64, found) === found ? found : undefined;
};
const unsigned = (value: unknown): bigint | undefined => {
  const found = whole(value);
  return found !== undefined && BigInt.asUintN(64, found) === found ? found : undefined;
};

interface Values {
  [row: number]: string | number | bigint;
  readonly length: number;
}

function vectorFor(
  type: SqlType,
  rowCount: number,
): { readonly read: Read; readonly values: Values } {
  switch (type.kind) {
    case 'boolean':
      return { read: flag, values: new Uint8Array(rowCount) };
    case 'float':
      return { read: float, values: new Float64Array(rowCount) };
    case 'timestamp':
    case 'duration':
      return { read: signed, values: new BigInt64Array(rowCount) };
    case 'int':
      if (type.bits === 32 && type.signed) return { read: int32, values: new Int32Array(rowCount) };
      invariant(type.bits === 64, 'the printer rejects other integers');
      return type.signed
        ? { read: signed, values: new BigInt64Array(rowCount) }
        : { read: unsigned, values: new BigUint64Array(rowCount) };
    default:
      return { read: text, values: new Array<string>(rowCount).fill('') };
  }
}
