import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { isNested, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { jsonSteps, jsonText, type TextStyle } from '../cell-text.js';
import type { NestedText } from '../nested/nested-text.js';
import { floatText, type WholeFloats } from '../number-text.js';
import { EncodedText, type TextBytes } from '../text-bytes.js';
import { EpochWriter, TimeWriter } from '../time-text.js';

export type CellWriter = (row: number) => void;

/** Writes the cells immediately, or returns the steps that write them. */
export type SteppedWriter = (row: number) => Steps<void> | undefined;

export interface JsonColumn {
  readonly type: SqlType;
  readonly style: TextStyle;
  /** Text before each value. */
  readonly textBefore: EncodedText;
  /** Text in place of `textBefore` and value for NULL. */
  readonly textOfNull: EncodedText;
  /** Times are written as integers in this unit. */
  readonly epochNs?: bigint | undefined;
  /**
   * Treatment of infinite numbers, which JSON lacks: they become `null`, or `UnsupportedValue` is
   * thrown.
   */
  readonly infinities?: Infinities;
}

export type Infinities = 'null' | 'refused';

/** InfluxDB's `/query` returns this error instead of the result. */
export class UnsupportedValue extends Error {
  override readonly name = 'UnsupportedValue';
  constructor(value: number) {
    super(`json: unsupported value: ${value > 0 ? '+' : '-'}Inf`);
  }
}

const TWO_32 = 2 ** 32;
/** Below this value, integral doubles have the digits of an integer. */
const LEAST_EXPONENT = 1e15;
/** Number of fraction digits of the fast path; most measured values have few. */
const SCALE_DIGITS = 4;
const SCALE = 10 ** SCALE_DIGITS;
const LARGEST_SCALED = 1e9;
const NULL = new EncodedText('null');
const POINT_ZERO = new EncodedText('.0');

/** Writes the cells of one column, chunk by chunk. */
export class JsonColumnWriter {
  readonly #column: JsonColumn;
  readonly #out: TextBytes;
  readonly #writerOf: (values: ArrayLike<unknown>) => CellWriter;

  readonly #nested: NestedText | undefined;

  constructor(column: JsonColumn, out: TextBytes) {
    this.#column = column;
    this.#nested = isNested(column.type) ? jsonSteps(column.type, column.style) : undefined;
    this.#out = out;
    this.#writerOf = valueWriter(column, out);
  }

  of(vector: ColumnVector): CellWriter {
    const { textBefore, textOfNull } = this.#column;
    const out = this.#out;
    const { values, validity } = vector;
    const put = this.#writerOf(values);
    const mayHoldNull = !ArrayBuffer.isView(values);
    if (validity === undefined && !mayHoldNull) {
      return (row) => {
        out.put(textBefore);
        put(row);
      };
    }
    return (row) => {
      const isNull =
        (validity !== undefined && ((validity[row >> 3] as number) & (1 << (row & 7))) === 0) ||
        (mayHoldNull && (values[row] ?? null) === null);
      if (isNull) out.put(textOfNull);
      else {
        out.put(textBefore);
        put(row);
      }
    };
  }

  inSteps(vector: ColumnVector): SteppedWriter {
    const nested = this.#nested;
    if (nested === undefined) {
      const write = this.of(vector);
      return (row) => {
        write(row);
        return undefined;
      };
    }
    const { textBefore, textOfNull } = this.#column;
    const out = this.#out;
    const put = (part: string): void => out.text(part);
    return (row) => {
      const value = isValid(vector.validity, row) ? vector.values[row] : null;
      const isNull = value === null || value === undefined;
      out.put(isNull ? textOfNull : textBefore);
      return isNull ? undefined : nested(value, put);
    };
  }
}

function valueWriter(
  column: JsonColumn,
  out: TextBytes,
): (values: ArrayLike<unknown>) => CellWriter {
  const { type, style, epochNs } = column;
  const text = jsonText(type, style);
  const other = (values: ArrayLike<unknown>): CellWriter => {
    return (row) => out.text(text(values[row]));
  };
  const plain = plainWriter(column, out);
  switch (type.kind) {
    case 'int':
      return (values) => (ArrayBuffer.isView(values) ? wholeWriter(values, out) : plain(values));
    case 'float':
      return (values) =>
        values instanceof Float64Array
          ? floatWriter(values, column, out)
          : type.bits === 64
            ? plain(values)
            : other(values);
    case 'timestamp':
      if (epochNs !== undefined) return timeWriter(new EpochWriter(epochNs), out);
      return type.zone === undefined
        ? timeWriter(new TimeWriter(style.timeSuffix, style.fraction, '"'), out)
        : other;
    case 'utf8':
    case 'tag':
    case 'null':
      return plain;
    default:
      return other;
  }
}

/** Writes values from an untyped array: numbers, strings, integers of all sizes. */
function plainWriter(
  column: JsonColumn,
  out: TextBytes,
): (values: ArrayLike<unknown>) => CellWriter {
  return (values) => (row) => {
    const value = values[row];
    if (typeof value === 'string') out.jsonText(value);
    else if (typeof value === 'number') putNumber(value, column, out);
    else out.ascii(String(value));
  };
}

/** Writes numbers from typed arrays. */
function wholeWriter(values: ArrayBufferView & ArrayLike<unknown>, out: TextBytes): CellWriter {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
    const isSigned = values instanceof BigInt64Array;
    return (row) => {
      const low = (halves[row * 2] as number) >>> 0;
      const high = halves[row * 2 + 1] as number;
      const value = (isSigned ? high : high >>> 0) * TWO_32 + low;
      if (Number.isSafeInteger(value)) out.whole(value);
      else out.ascii(String(values[row]));
    };
  }
  const numbers = values as unknown as ArrayLike<number>; // all other typed arrays contain numbers
  return (row) => out.whole(numbers[row] as number);
}

function floatWriter(values: Float64Array, column: JsonColumn, out: TextBytes): CellWriter {
  return (row) => putNumber(values[row] as number, column, out);
}

function putNumber(value: number, { type, style, infinities }: JsonColumn, out: TextBytes): void {
  const wholeFloats = type.kind === 'float' ? style.wholeFloats : 'bare';
  if (Number.isFinite(value)) putFloat(value, out, wholeFloats);
  else if (infinities !== 'refused' || Number.isNaN(value)) out.put(NULL);
  else throw new UnsupportedValue(value);
}

/** Writes a finite number in its shortest form. */
function putFloat(value: number, out: TextBytes, wholeFloats: WholeFloats): void {
  if (Math.floor(value) === value && Math.abs(value) < LEAST_EXPONENT && !Object.is(value, -0)) {
    out.whole(value);
    if (wholeFloats === 'with_fraction') out.put(POINT_ZERO);
    return;
  }
  // Decimals of up to 15 digits are distinct doubles, so a decimal equal to the value is its
  // shortest form.
  const scaled = Math.round(value * SCALE);
  const isScaled = scaled !== 0 && scaled / SCALE === value && Math.abs(value) < LARGEST_SCALED;
  if (isScaled) out.decimal(scaled, SCALE_DIGITS);
  else out.ascii(floatText(value, wholeFloats));
}

/** Writes times. Consecutive rows often have the same time. */
function timeWriter(
  writer: TimeWriter | EpochWriter,
  out: TextBytes,
): (values: ArrayLike<unknown>) => CellWriter {
  return (values) => {
    const times =
      values instanceof BigInt64Array ? values : BigInt64Array.from(values as ArrayLike<bigint>);
    const halves = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
    return (row) => writer.put(halves, row, out);
  };
}
