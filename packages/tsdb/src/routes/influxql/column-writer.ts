import type { AnswerColumn } from '../../domain/influxql/answer.js';
import type { Value } from '../../domain/influxql/plan/data-type.js';
import { floorDiv } from '../../model/calendar.js';
import { jsonText, SERIES_STYLE } from '../formats/cell-text.js';
import { type CellWriter, putFloat } from '../formats/json-cells.js';
import { Piece, type TextBytes } from '../formats/text-bytes.js';
import { TimeParts, TimeWriter } from '../formats/time-text.js';

/** JSON has no infinity: at `/query` the real server answers this in place of the whole. */
export class UnsupportedValue extends Error {
  override readonly name = 'UnsupportedValue';
  constructor(value: number) {
    super(`json: unsupported value: ${value > 0 ? '+' : '-'}Inf`);
  }
}

/** What stands for an infinite number: `null`, or `UnsupportedValue` in place of the answer. */
export type Infinities = 'null' | 'refused';

/** Writes the cells of one column, in JSON. */
export type ColumnWriter = (values: ArrayLike<Value>) => CellWriter;

interface WriterOptions {
  readonly epochNs: bigint | undefined;
  readonly zone: string | undefined;
  readonly infinities: Infinities;
}

const NULL = new Piece('null');
const QUOTE = 34;
const NS_PER_SECOND = 1_000_000_000;

export function columnWriter(
  { type }: AnswerColumn,
  options: WriterOptions,
  out: TextBytes,
): ColumnWriter {
  if (type === 'time') return timeWriter(options, out);
  return (values) => {
    if (values instanceof Float64Array)
      return (row) => putNumber(values[row] as number, options.infinities, out);
    return (row) => {
      const value = values[row];
      if (value === null || value === undefined) out.put(NULL);
      else if (typeof value === 'number') putNumber(value, options.infinities, out);
      else if (typeof value === 'string') out.jsonText(value);
      else out.ascii(String(value));
    };
  };
}

function putNumber(value: number, infinities: Infinities, out: TextBytes): void {
  if (Number.isFinite(value)) putFloat(value, out, 'bare');
  else if (Number.isNaN(value) || infinities === 'null') out.put(NULL);
  else throw new UnsupportedValue(value);
}

function timeWriter({ epochNs, zone }: WriterOptions, out: TextBytes): ColumnWriter {
  if (epochNs !== undefined) return epochWriter(epochNs, out);
  if (zone !== undefined && zone !== 'UTC') {
    const text = jsonText({ kind: 'timestamp', unit: 'ns', zone }, SERIES_STYLE);
    return (values) => (row) => out.text(text(values[row]));
  }
  const writer = new TimeWriter('Z');
  return (values) => {
    const halves = halvesOf(values);
    return (row) => {
      out.byte(QUOTE);
      writer.put(halves, row, out);
      out.byte(QUOTE);
    };
  };
}

/** Whole numbers of a unit of time. */
function epochWriter(epochNs: bigint, out: TextBytes): ColumnWriter {
  const unitNs = Number(epochNs);
  const perSecond = Math.floor(NS_PER_SECOND / unitNs);
  const digitCount = String(perSecond).length - 1;
  const unitSec = unitNs / NS_PER_SECOND;
  const parts = new TimeParts();
  return (values) => {
    const halves = halvesOf(values);
    return (row) => {
      parts.split(halves, row);
      const { second, nanos } = parts;
      if (perSecond === 0 || perSecond === 1) out.whole(Math.floor(second / unitSec));
      else if (second > 0) {
        out.whole(second);
        out.padded(nanos / unitNs, digitCount);
      } else if (second === 0) out.whole(Math.floor(nanos / unitNs));
      else out.ascii(String(floorDiv(values[row] as bigint, epochNs))); // the column of times
    };
  };
}

/** Times as pairs of 32-bit words. */
function halvesOf(values: ArrayLike<Value>): Int32Array {
  const times =
    values instanceof BigInt64Array ? values : BigInt64Array.from(values as ArrayLike<bigint>);
  return new Int32Array(times.buffer, times.byteOffset, times.length * 2);
}
