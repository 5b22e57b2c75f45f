import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import type { DataType, Value } from '../../plan/data-type.js';

/**
 * Returns the values of a column, with NULL as `null`. Numbers without NULLs stay in DuckDB's typed
 * array.
 */
export function vectorValues(
  { values, validity }: ColumnVector,
  rowCount: number,
  type: DataType,
): ArrayLike<Value> {
  const isBoolean = type === 'boolean';
  if (validity === undefined && !isBoolean) return values as ArrayLike<Value>; // the column's type guarantees this
  const out = new Array<Value>(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const isPresent =
      validity === undefined || ((validity[row >> 3] as number) & (1 << (row & 7))) !== 0;
    const value = values[row] as Value;
    out[row] = !isPresent ? null : isBoolean ? (value as unknown) === 1 || value === true : value;
  }
  return out;
}

/** Converts integers that were read from memory as doubles back to `bigint`. */
export function exactValues(values: ArrayLike<Value>, type: DataType): ArrayLike<Value> {
  if (type !== 'integer' && type !== 'unsigned') return values;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) return values;
  return Array.from(values, exactValue);
}

export const exactValue = (value: Value): Value =>
  typeof value === 'number' ? BigInt(value) : value;

export function sliceOf<T>(values: ArrayLike<T>, from: number, to: number): ArrayLike<T> {
  if (from === 0 && to === values.length) return values;
  if (Array.isArray(values)) return values.slice(from, to) as T[];
  // For one element a typed-array view costs more than a copy. Last rows of series are slices of
  // length 1.
  if (to - from === 1) return [values[from] as T];
  // All other inputs are typed arrays.
  return (values as unknown as { subarray(from: number, to: number): ArrayLike<T> }).subarray(
    from,
    to,
  );
}

/** Values of a tag column; absent tags are empty strings. */
export function tagTexts(vector: ColumnVector, rowCount: number): ArrayLike<string> {
  if (vector.validity === undefined) return vector.values as ArrayLike<string>; // a string column
  return Array.from(vectorValues(vector, rowCount, 'tag'), (value) => String(value ?? ''));
}
