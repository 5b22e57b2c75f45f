import { nanosText } from '../units.js';

interface Named {
  readonly name: string;
  /** As the server calls it. */
  readonly typeName: string;
  /** 1 where there is no value; `undefined`: there is one everywhere. */
  readonly nulls: Uint8Array | undefined;
}

/** Values of one column of a result, as they come from the worker: typed arrays, so that nothing is copied. */
export type FrameColumn =
  | (Named & { readonly kind: 'number'; readonly values: Float64Array })
  /** `numbers` has the same values for drawing, where a double will do. */
  | (Named & {
      readonly kind: 'integer';
      readonly values: BigInt64Array | BigUint64Array;
      readonly numbers: Float64Array;
    })
  /** Nanoseconds since 1970, and the same in milliseconds for drawing. */
  | (Named & {
      readonly kind: 'time';
      readonly values: BigInt64Array;
      readonly numbers: Float64Array;
    })
  /** Few different texts. */
  | (Named & {
      readonly kind: 'words';
      readonly codes: Int32Array;
      readonly values: readonly string[];
    })
  /** Many: one behind the other in UTF-8. */
  | (Named & { readonly kind: 'text'; readonly offsets: Int32Array; readonly bytes: Uint8Array });

/** Points of all series, one behind the other, each series by time. */
export interface FrameGroups {
  /** For each series the words that make it, in the order of `names`. */
  readonly labels: readonly (readonly string[])[];
  readonly names: readonly string[];
  /** Where each series begins; one more at the end. */
  readonly starts: Uint32Array;
  /** In milliseconds. */
  readonly times: Float64Array;
  readonly lines: readonly FrameLine[];
}

/** The values of one column of numbers, in the order of the points. */
export interface FrameLine {
  readonly field: string;
  /** NaN where there is no value. */
  readonly values: Float64Array;
  /** For each series its last, lowest and highest value, mean and sum. */
  readonly figures: Float64Array;
}

export const FIGURE_COUNT = 5;

/** A result. */
export interface Frame {
  readonly columns: readonly FrameColumn[];
  readonly rowCount: number;
  /** The answer had more rows than are kept. */
  readonly isCut: boolean;
  /** `undefined`: no column is a time. */
  readonly timeIndex: number | undefined;
  readonly groups: FrameGroups | undefined;
}

export const MAX_ROW_COUNT = 1_000_000;
export const MAX_SIZE_BYTES = 256 * 1024 * 1024;

const DECODER = new TextDecoder();

export function isNull(column: FrameColumn, row: number): boolean {
  return column.nulls !== undefined && column.nulls[row] === 1;
}

/** Exact: 64-bit integers and nanoseconds keep all digits. Empty where there is no value. */
export function cellText(column: FrameColumn, row: number): string {
  if (isNull(column, row)) return '';
  switch (column.kind) {
    case 'number':
    case 'integer':
      return String(column.values[row]);
    case 'time':
      return nanosText(column.values[row] ?? 0n);
    case 'words':
      return column.values[column.codes[row] ?? 0] ?? '';
    case 'text':
      return DECODER.decode(column.bytes.subarray(column.offsets[row], column.offsets[row + 1]));
  }
}

/** Values for drawing; `undefined`: it has none. */
export function numbersOf(column: FrameColumn | undefined): Float64Array | undefined {
  if (column?.kind === 'number') return column.values;
  return column?.kind === 'integer' ? column.numbers : undefined;
}

export const isNumeric = (column: FrameColumn): boolean =>
  column.kind === 'number' || column.kind === 'integer';
