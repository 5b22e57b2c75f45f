/**
 * Type of an expression or result column, in Arrow terms, with its representation in result chunks
 * (`ColumnVector.values`) and in DuckDB:
 *
 * | kind | chunk values | DuckDB |
 * |---|---|---|
 * | null | any, never valid | INTEGER |
 * | boolean | Uint8Array of 0/1 | BOOLEAN |
 * | int 8..32 | Int8/Int16/Int32/Uint8/Uint16/Uint32Array | TINYINT..UINTEGER |
 * | int 64 | BigInt64Array / BigUint64Array, or Float64Array of integers | BIGINT / UBIGINT |
 * | float 32/64 | Float32Array / Float64Array | FLOAT / DOUBLE |
 * | decimal | string[] (plain notation) | DECIMAL(p,s) |
 * | utf8, tag | string[] | VARCHAR |
 * | binary | Uint8Array[] | BLOB |
 * | date | Int32Array, days since 1970 | DATE |
 * | time | BigInt64Array, ns since midnight | BIGINT |
 * | timestamp | BigInt64Array, ns since 1970 UTC in every unit | TIMESTAMP_NS |
 * | duration | BigInt64Array, ns | BIGINT |
 * | interval | IntervalValue[] | STRUCT(months INTEGER, days INTEGER, nanos BIGINT) |
 * | list | readonly (CellValue | null)[] per row | LIST |
 * | struct | Map-like plain objects per row | STRUCT |
 * | map | [key, value][] per row | MAP |
 */
export type SqlType =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'int'; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  | { readonly kind: 'float'; readonly bits: 32 | 64 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'utf8' }
  /** A plain tag column (Dictionary(Int32, Utf8)); behaves like a string. */
  | { readonly kind: 'tag' }
  | { readonly kind: 'binary' }
  | { readonly kind: 'date' }
  | { readonly kind: 'time' }
  /**
   * `zone`: IANA name or `+hh:mm`. Values are always instants; the zone only affects formatting.
   */
  | { readonly kind: 'timestamp'; readonly unit: TimeUnit; readonly zone: string | undefined }
  | { readonly kind: 'duration' }
  | { readonly kind: 'interval' }
  | { readonly kind: 'list'; readonly element: SqlType }
  | { readonly kind: 'struct'; readonly fields: readonly StructField[] }
  | { readonly kind: 'map'; readonly key: SqlType; readonly value: SqlType };

export type TimeUnit = 's' | 'ms' | 'us' | 'ns';

export const NS_PER_UNIT: Readonly<Record<TimeUnit, bigint>> = {
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  ns: 1n,
};

export interface StructField {
  readonly name: string;
  readonly type: SqlType;
}

export interface IntervalValue {
  readonly months: number;
  readonly days: number;
  readonly nanos: bigint;
}

export function isText(type: SqlType): boolean {
  return type.kind === 'utf8' || type.kind === 'tag';
}

export function isNumeric(type: SqlType): boolean {
  return type.kind === 'int' || type.kind === 'float' || type.kind === 'decimal';
}

export function isNested(type: SqlType): boolean {
  return type.kind === 'list' || type.kind === 'struct' || type.kind === 'map';
}

/** Returns whether one value can contain any number of values. */
export function hasLists(type: SqlType): boolean {
  if (type.kind === 'struct') return type.fields.some((field) => hasLists(field.type));
  return type.kind === 'list' || type.kind === 'map';
}

/** Counts the values in one value of the type, without those in lists. */
export function leafCount(type: SqlType): number {
  if (type.kind !== 'struct') return 1;
  return type.fields.reduce((sum, field) => sum + leafCount(field.type), 1);
}

/** Types are plain data without cycles, so their JSON identifies them. */
export function isSameType(a: SqlType, b: SqlType): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Returns the nesting depth of lists. */
export const listDepth = (type: SqlType): number =>
  type.kind === 'list' ? 1 + listDepth(type.element) : 0;

const UTF8: SqlType = { kind: 'utf8' };

/**
 * Returns the type of a value computed from the column. A tag column is a dictionary; a value
 * computed from it is a plain string.
 */
export function valueType(type: SqlType): SqlType {
  return type.kind === 'tag' ? UTF8 : type;
}
