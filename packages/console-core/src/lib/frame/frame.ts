import { nanosText } from '../units.js';

interface Named {
  readonly name: string;
  /** The server's name of the type. */
  readonly typeName: string;
  /** 1 for each missing value; `undefined` when no value is missing. */
  readonly nulls: Uint8Array | undefined;
}

/** The values of one result column, as the worker transfers them: typed arrays, so that nothing is copied. */
export type FrameColumn =
  | (Named & { readonly kind: 'number'; readonly values: Float64Array })
  /** `numbers` contains the same values as doubles, for charts. */
  | (Named & {
      readonly kind: 'integer';
      readonly values: BigInt64Array | BigUint64Array;
      readonly numbers: Float64Array;
    })
  /** Nanoseconds since 1970, and the same in milliseconds for charts. */
  | (Named & {
      readonly kind: 'time';
      readonly values: BigInt64Array;
      readonly numbers: Float64Array;
    })
  /** Few distinct strings, as codes into a list. */
  | (Named & {
      readonly kind: 'words';
      readonly codes: Int32Array;
      readonly values: readonly string[];
    })
  /** Many distinct strings, concatenated in UTF-8. */
  | (Named & { readonly kind: 'text'; readonly offsets: Int32Array; readonly bytes: Uint8Array });

/** The points of all series, one series after the other, each in time order. */
export interface FrameGroups {
  /** The strings that identify each series, in the order of `names`. */
  readonly labels: readonly (readonly string[])[];
  readonly names: readonly string[];
  /** The start index of each series, and one more at the end. */
  readonly starts: Uint32Array;
  /** Milliseconds since 1970. */
  readonly times: Float64Array;
  readonly lines: readonly FrameLine[];
}

/** The values of one numeric column, in the order of the points. */
export interface FrameLine {
  readonly field: string;
  /** NaN for a missing value. */
  readonly values: Float64Array;
  /** The last, lowest and highest value, the mean and the sum of each series. */
  readonly figures: Float64Array;
}

export const FIGURE_COUNT = 5;

/** A query result. */
export interface Frame {
  readonly columns: readonly FrameColumn[];
  readonly rowCount: number;
  /** Whether the result had more rows than were kept. */
  readonly isCut: boolean;
  /** `undefined` when no column is a time. */
  readonly timeIndex: number | undefined;
  readonly groups: FrameGroups | undefined;
}

export const MAX_ROW_COUNT = 1_000_000;
export const MAX_SIZE_BYTES = 256 * 1024 * 1024;

const DECODER = new TextDecoder();

export function isNull(column: FrameColumn, row: number): boolean {
  return column.nulls !== undefined && column.nulls[row] === 1;
}

/**
 * Returns the exact text: 64-bit integers and nanoseconds keep all digits. Returns an empty string for a missing value.
 */
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

/** Returns the values as doubles, for charts; `undefined` for a column that is not numeric. */
export function numbersOf(column: FrameColumn | undefined): Float64Array | undefined {
  if (column?.kind === 'number') return column.values;
  return column?.kind === 'integer' ? column.numbers : undefined;
}

export const isNumeric = (column: FrameColumn): boolean =>
  column.kind === 'number' || column.kind === 'integer';
