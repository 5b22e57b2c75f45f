import type { NewSeries } from './series/new-series.js';

/** Unit of the timestamps of a request; `auto` decides line by line from the magnitude. */
export type Precision =
  | 'auto'
  | 'second'
  | 'millisecond'
  | 'microsecond'
  | 'nanosecond'
  | 'minute'
  | 'hour';

/** Values of one field over the rows of one table. A row without the field has a cleared bit and any value. */
export type FieldValues =
  | { readonly type: 'float64'; readonly values: Float64Array }
  | { readonly type: 'int64'; readonly values: BigInt64Array }
  | { readonly type: 'uint64'; readonly values: BigUint64Array }
  | { readonly type: 'bool'; readonly values: Uint8Array }
  /** Bytes of row i: `bytes[offsets[i] .. offsets[i + 1])`, UTF-8. `offsets` has one entry more than rows. */
  | { readonly type: 'utf8'; readonly offsets: Uint32Array; readonly bytes: Uint8Array };

export interface ParsedField {
  readonly name: string;
  readonly data: FieldValues;
  /** Bit `i & 7` of byte `i >> 3` is set when row i has the field. `undefined`: every row has it. */
  readonly validity: Uint8Array | undefined;
}

/**
 * The lines of one request for one table, column-wise, in the order of the lines. When lines of the body
 * disagree about a field's type, the field appears once per type; the catalog decides which lines stand.
 */
export interface ParsedTable {
  readonly table: string;
  /** Number of (database, table) in this parser; stable while its `epoch` lasts. */
  readonly parserTable: number;
  readonly rowCount: number;
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly times: BigInt64Array;
  /** Number of the row's tag set in this parser and table; dense from 0 and stable while `epoch` lasts. */
  readonly series: Uint32Array;
  /** Distinct fields by (name, type), in order of first appearance. */
  readonly fields: readonly ParsedField[];
  /** Tag sets this parser met for the first time; numbered from `firstNewSeries` without a gap. */
  readonly firstNewSeries: number;
  readonly newSeries: NewSeries | undefined;
  /** Byte range of each row's line in the body, `[start, end)` without the newline, and its 1-based line number. */
  readonly lineStarts: Uint32Array;
  readonly lineEnds: Uint32Array;
  readonly lineNumbers: Uint32Array;
}

/** A line that is not line protocol, whatever the schema. */
export interface RefusedLine {
  readonly lineNumber: number;
  /** Whole line without its newline, cut to 1024 bytes at a character border. */
  readonly originalLine: string;
  readonly message: string;
  /** True when a limit (not the text of the line) refused it: the request answers 422 then. */
  readonly isLimit: boolean;
}

/** A table whose columns are mostly empty when a body has too many cells: its rows and columns up to there. */
export interface SparseTable {
  readonly table: string;
  readonly rowCount: number;
  readonly columnCount: number;
}

export interface ParsedBody {
  /** Tables in order of first appearance. */
  readonly tables: readonly ParsedTable[];
  /** In order of the lines. At most `MAX_REFUSED_LINES` are kept; `refusedCount` counts all. */
  readonly refused: readonly RefusedLine[];
  readonly refusedCount: number;
  /** Lines that are neither blank nor a comment, refused ones among them. */
  readonly lineCount: number;
  /** The body is to be refused whole: its columns would be far larger than its lines. Tables have no rows then. */
  readonly tooSparse: SparseTable | undefined;
  /** Changes whenever the parser forgot its tables and series and started to number them anew. */
  readonly epoch: number;
}

export const MAX_REFUSED_LINES = 1000;
