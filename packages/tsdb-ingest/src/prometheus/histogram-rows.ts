import { MAX_TEXT_BYTES } from '@plinth/tsdb-model/database/limits.js';
import { HISTOGRAM_LINE_END } from '@plinth/tsdb-model/parsed-body.js';
import type { TableRows } from '../columns/table-rows.js';
import { BYTES, FIXED_64, type ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import { addFields, type RowPlace, STALE_FIELD } from '../messages/row-fields.js';
import { LineRefused } from '../slow-path/line-refused.js';
import { startSample } from './sample-rows.js';

/** A native histogram. Source: Prometheus, `prompb/types.proto`, `Histogram`. */
interface Histogram {
  count: number;
  sum: number;
  isStale: boolean;
  schema: number;
  zeroThreshold: number;
  zeroCount: number;
  /** Pairs of offset and length. */
  positiveSpans: number[][];
  negativeSpans: number[][];
  /** Of integer histograms. */
  positiveDeltas: number[];
  negativeDeltas: number[];
  /** Of float histograms. */
  positiveCounts: number[];
  negativeCounts: number[];
  isFloat: boolean;
  customValues: number[];
  timeMs: number;
}

const COUNT_FLOAT_TAG = tagOf(2, FIXED_64);
/** Fields with one number, by tag. */
const NUMBERS: ReadonlyMap<number, readonly [keyof Histogram, 'uint' | 'sint' | 'int' | 'double']> =
  new Map([
    [tagOf(1, VARINT), ['count', 'uint']],
    [COUNT_FLOAT_TAG, ['count', 'double']],
    [tagOf(3, FIXED_64), ['sum', 'double']],
    [tagOf(4, VARINT), ['schema', 'sint']],
    [tagOf(5, FIXED_64), ['zeroThreshold', 'double']],
    [tagOf(6, VARINT), ['zeroCount', 'uint']],
    [tagOf(7, FIXED_64), ['zeroCount', 'double']],
    [tagOf(15, VARINT), ['timeMs', 'int']],
  ]);
/** Repeated numbers, by field number. They may be packed or not. */
const LISTS: ReadonlyMap<
  number,
  readonly [
    'negativeDeltas' | 'positiveDeltas' | 'negativeCounts' | 'positiveCounts' | 'customValues',
    'sint' | 'double',
  ]
> = new Map([
  [9, ['negativeDeltas', 'sint']],
  [10, ['negativeCounts', 'double']],
  [12, ['positiveDeltas', 'sint']],
  [13, ['positiveCounts', 'double']],
  [16, ['customValues', 'double']],
]);
const NEGATIVE_SPAN_TAG = tagOf(8, BYTES);
const POSITIVE_SPAN_TAG = tagOf(11, BYTES);
const OFFSET_TAG = tagOf(1, VARINT);
const LENGTH_TAG = tagOf(2, VARINT);

/** Reads the message up to `end`. Throws `MessageInvalid`. */
function readHistogram(cursor: ProtoCursor, end: number): Histogram {
  const read: Histogram = {
    ...{ count: 0, sum: 0, isStale: false, schema: 0, zeroThreshold: 0, zeroCount: 0, timeMs: 0 },
    ...{ positiveSpans: [], negativeSpans: [], positiveDeltas: [], negativeDeltas: [] },
    ...{ positiveCounts: [], negativeCounts: [], isFloat: false, customValues: [] },
  };
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    const number = NUMBERS.get(tag);
    const list = LISTS.get(tag >>> 3);
    if (number !== undefined) {
      const [name, type] = number;
      Object.assign(read, { [name]: cursor[type](end) });
      if (tag === COUNT_FLOAT_TAG) read.isFloat = true;
      if (name === 'sum')
        read.isStale = Number.isNaN(read.sum) && cursor.isStaleMarker(cursor.at - 8);
    } else if (tag === NEGATIVE_SPAN_TAG || tag === POSITIVE_SPAN_TAG) {
      const spans = tag === POSITIVE_SPAN_TAG ? read.positiveSpans : read.negativeSpans;
      spans.push(readSpan(cursor, cursor.enter(end)));
    } else if (list !== undefined) {
      const [name, type] = list;
      cursor.numbers(tag, end, { into: read[name], type });
    } else cursor.skip(tag, end);
  }
  return read;
}

function readSpan(cursor: ProtoCursor, end: number): number[] {
  let offset = 0;
  let length = 0;
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    if (tag === OFFSET_TAG) offset = cursor.sint(end);
    else if (tag === LENGTH_TAG) length = cursor.uint(end);
    else cursor.skip(tag, end);
  }
  return [offset, length];
}

/**
 * Reads a histogram up to `end` and adds its row. Throws `MessageInvalid`, and `LineRefused` if a
 * limit is exceeded; nothing is then added. Source: tsdb-http, "Prometheus remote write".
 */
export function addHistogram(
  table: TableRows,
  cursor: ProtoCursor,
  { end, ...place }: RowPlace & { end: number },
): void {
  const read = readHistogram(cursor, end);
  const row = startSample(table, { ...place, timeMs: read.timeMs });
  const texts = read.isStale ? [] : textsOf(read);
  if (texts.some(([, text]) => text.length > MAX_TEXT_BYTES))
    throw new LineRefused('the histogram has too many buckets');
  const fields = read.isStale ? [[STALE_FIELD, true] as const] : [...numbersOf(read), ...texts];
  addFields(table, row, fields);
  table.lineEnds[row] = HISTOGRAM_LINE_END;
}

/** Omits a sum that is not a number. */
const numbersOf = (read: Histogram): (readonly [string, number])[] =>
  (
    [
      ['histogram_count', read.count],
      ['histogram_sum', read.sum],
      ['histogram_schema', read.schema],
      ['histogram_zero_threshold', read.zeroThreshold],
      ['histogram_zero_count', read.zeroCount],
    ] as const
  ).filter(([, value]) => !Number.isNaN(value));

const textsOf = (read: Histogram): (readonly [string, string])[] => {
  const kind = read.isFloat ? 'counts' : 'deltas';
  const positive = read.isFloat ? read.positiveCounts : read.positiveDeltas;
  const negative = read.isFloat ? read.negativeCounts : read.negativeDeltas;
  const custom =
    read.customValues.length === 0 ? [] : [['custom_values', read.customValues] as const];
  return [
    ['positive_spans', read.positiveSpans] as const,
    [`positive_${kind}`, positive] as const,
    ['negative_spans', read.negativeSpans] as const,
    [`negative_${kind}`, negative] as const,
    ...custom,
  ].map(([name, list]) => [`histogram_${name}`, JSON.stringify(list)] as const);
};
