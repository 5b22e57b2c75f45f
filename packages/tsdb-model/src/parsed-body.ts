import type { RefusedLine } from './refused-line.js';
import type { NewSeries } from './series/new-series.js';

/** Unit of the timestamps of a request. `auto` derives it from the magnitude, line by line. */
export type Precision =
  | 'auto'
  | 'second'
  | 'millisecond'
  | 'microsecond'
  | 'nanosecond'
  | 'minute'
  | 'hour';

/**
 * Values of one field over the rows of one table. A row without the field has a cleared bit and an
 * arbitrary value.
 */
export type FieldValues =
  | { readonly type: 'float64'; readonly values: Float64Array }
  | { readonly type: 'int64'; readonly values: BigInt64Array }
  | { readonly type: 'uint64'; readonly values: BigUint64Array }
  | { readonly type: 'bool'; readonly values: Uint8Array }
  /**
   * Bytes of row i: `bytes[offsets[i] .. offsets[i + 1])`, UTF-8. `offsets` has one entry more than
   * there are rows.
   */
  | { readonly type: 'utf8'; readonly offsets: Uint32Array; readonly bytes: Uint8Array };

export interface ParsedField {
  readonly name: string;
  readonly data: FieldValues;
  /** Bit `i & 7` of byte `i >> 3` is set when row i has the field. `undefined`: every row has it. */
  readonly validity: Uint8Array | undefined;
}

/** The `lineEnds` of a row of a native histogram, which has no line. */
export const HISTOGRAM_LINE_END = 1;

/**
 * The lines of one request for one table, by column, in line order. If lines disagree about a
 * field's type, the field appears once per type, and the catalog decides which lines are accepted.
 */
export interface ParsedTable {
  readonly table: string;
  /** Number of the (database, table) pair in this parser; stable within an `epoch`. */
  readonly parserTable: number;
  readonly rowCount: number;
  /** Nanoseconds since 1970-01-01 UTC. */
  readonly times: BigInt64Array;
  /**
   * The parser's number of each row's series: consecutive from 0 in this parser and table, stable within an
   * `epoch`. The write path translates it to the series ordinal of the table.
   */
  readonly seriesNumbers: Uint32Array;
  /** Distinct fields by (name, type), in order of first appearance. */
  readonly fields: readonly ParsedField[];
  /** Number of the first new tag set. New tag sets are numbered consecutively from here. */
  readonly firstNewSeries: number;
  readonly newSeries: NewSeries | undefined;
  /**
   * Line protocol: byte range of each row's line in the body, `[start, end)` without the newline, and its 1-based line
   * number. Other formats: 0, 0 or `HISTOGRAM_LINE_END`, and the position of the row's sample in the message.
   */
  readonly lineStarts: Uint32Array;
  readonly lineEnds: Uint32Array;
  readonly lineNumbers: Uint32Array;
}

/**
 * A table whose columns are mostly empty in a body with too many cells; counts its rows and columns
 * up to that point.
 */
export interface SparseTable {
  readonly table: string;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** Versions of the messages of Prometheus remote write. */
export type RemoteWriteFormat = 'remote_write' | 'remote_write_2';
/** Encodings of OpenTelemetry metrics. */
export type OtlpFormat = 'otlp_metrics' | 'otlp_metrics_json';
/** Formats of bodies that are messages, not lines. */
export type MessageFormat = RemoteWriteFormat | OtlpFormat;

export interface ParsedBody {
  /** Absent for line protocol. */
  readonly format?: 'remote_write' | 'otlp_metrics';
  /** Set if the complete body must be refused, because its bytes are not a message. Tables then have no rows. */
  readonly invalid?: string;
  /** Rows of native histograms: those with a `lineEnds` of `HISTOGRAM_LINE_END`, in all tables. */
  readonly histogramCount?: number;
  /** Exemplars of OpenTelemetry metrics, which are not stored. */
  readonly exemplarCount?: number;
  /** Tables in order of first appearance. */
  readonly tables: readonly ParsedTable[];
  /** In line order. At most `MAX_REFUSED_LINES` are kept; `refusedCount` counts all. */
  readonly refused: readonly RefusedLine[];
  readonly refusedCount: number;
  /** Number of lines that are neither blank nor a comment, including refused lines. */
  readonly lineCount: number;
  /**
   * Set if the complete body must be refused, because its columns would be far larger than its
   * lines. Tables then have no rows.
   */
  readonly tooSparse: SparseTable | undefined;
  /** Changes when the parser has reset and renumbers its tables and series. */
  readonly epoch: number;
}
