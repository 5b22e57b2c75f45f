import type { AnswerColumn } from '../../domain/influxql/answer.js';
import type { Value } from '../../domain/influxql/plan/data-type.js';
import { floorDiv } from '../../model/calendar.js';
import { jsonText, SERIES_STYLE } from '../formats/cell-text.js';
import { TimeWriter } from '../formats/time-text.js';

/** JSON has no infinity: at `/query` the real server answers this in place of the whole. */
export class UnsupportedValue extends Error {
  override readonly name = 'UnsupportedValue';
  constructor(value: number) {
    super(`json: unsupported value: ${value > 0 ? '+' : '-'}Inf`);
  }
}

/** What stands for an infinite number: `null`, or `UnsupportedValue` in place of the answer. */
export type Infinities = 'null' | 'refused';

/** Texts of the cells of one column, in JSON. */
export type ColumnWriter = (values: ArrayLike<Value>, rowCount: number) => string[];

export function columnWriter(
  { type }: AnswerColumn,
  at: {
    readonly epochNs: bigint | undefined;
    readonly zone: string | undefined;
    readonly infinities: Infinities;
  },
): ColumnWriter {
  if (type === 'time') return timeWriter(at);
  const memo = new Map<Value, string>();
  const textOf = (value: string): string => {
    const known = memo.get(value);
    if (known !== undefined) return known;
    const text = JSON.stringify(value);
    if (memo.size >= MAX_MEMO_COUNT) memo.clear();
    memo.set(value, text);
    return text;
  };
  return (values, rowCount) => {
    const texts = new Array<string>(rowCount);
    for (let row = 0; row < rowCount; row++) {
      const value = values[row];
      if (value === null || value === undefined) texts[row] = 'null';
      else if (typeof value === 'number') texts[row] = numberText(value, at.infinities);
      else if (typeof value === 'string') texts[row] = textOf(value);
      else texts[row] = String(value);
    }
    return texts;
  };
}

const MAX_MEMO_COUNT = 8192;

function numberText(value: number, infinities: Infinities): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  if (Number.isNaN(value) || infinities === 'null') return 'null';
  throw new UnsupportedValue(value);
}

function timeWriter({
  epochNs,
  zone,
}: {
  readonly epochNs: bigint | undefined;
  readonly zone: string | undefined;
}): ColumnWriter {
  if (epochNs !== undefined) {
    return (values, rowCount) => {
      const texts = new Array<string>(rowCount);
      for (let row = 0; row < rowCount; row++) {
        const time = values[row] as bigint; // the column of times
        texts[row] = String(epochNs === 1n ? time : floorDiv(time, epochNs));
      }
      return texts;
    };
  }
  if (zone !== undefined && zone !== 'UTC') {
    const text = jsonText({ kind: 'timestamp', unit: 'ns', zone }, SERIES_STYLE);
    return (values, rowCount) => Array.from({ length: rowCount }, (_, row) => text(values[row]));
  }
  const writer = new TimeWriter('Z"');
  return (values, rowCount) => {
    const whole =
      values instanceof BigInt64Array ? values : BigInt64Array.from(values as ArrayLike<bigint>);
    const halves = new Int32Array(whole.buffer, whole.byteOffset, whole.length * 2);
    const texts = new Array<string>(rowCount);
    for (let row = 0; row < rowCount; row++) texts[row] = `"${writer.textAt(halves, row)}`;
    return texts;
  };
}
