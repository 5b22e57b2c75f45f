import type { TableRows } from '../columns/table-rows.js';
import { OTLP_FIELDS } from '../messages/label-rules.js';
import { BYTES, FIXED_64, type ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import type { RowField } from '../messages/row-fields.js';
import { addPoint, type PointLimits, PointNumbers } from './point-fields.js';
import type { PointKind } from './point-kind.js';

const SCALE_TAG = tagOf(6, VARINT);
const ZERO_COUNT_TAG = tagOf(7, FIXED_64);
const POSITIVE_TAG = tagOf(8, BYTES);
const NEGATIVE_TAG = tagOf(9, BYTES);
const OFFSET_TAG = tagOf(1, VARINT);
const BUCKET_COUNTS = 2;
const NUMBERS = new Map([
  [tagOf(12, FIXED_64), OTLP_FIELDS.min],
  [tagOf(13, FIXED_64), OTLP_FIELDS.max],
  [tagOf(14, FIXED_64), OTLP_FIELDS.zeroThreshold],
]);

interface Buckets {
  offset: number;
  counts: number[];
}

/** `ExponentialHistogramDataPoint`. Its buckets are strings, because their bounds change. */
export class ExponentialPoint implements PointKind {
  readonly hasTemporality = true;
  readonly attributes = tagOf(1, BYTES);
  readonly flags = tagOf(10, VARINT);
  readonly exemplars = tagOf(11, BYTES);
  readonly #limits: PointLimits;
  readonly #numbers = new PointNumbers(NUMBERS);
  #scale = 0;
  #zeroCount = 0;
  #positive: Buckets = noBuckets();
  #negative: Buckets = noBuckets();

  constructor(limits: PointLimits) {
    this.#limits = limits;
  }

  begin(): void {
    this.#numbers.begin();
    this.#scale = 0;
    this.#zeroCount = 0;
    this.#positive = noBuckets();
    this.#negative = noBuckets();
  }

  read(tag: number, cursor: ProtoCursor, end: number): boolean {
    if (tag === SCALE_TAG) this.#scale = cursor.sint(end);
    else if (tag === ZERO_COUNT_TAG) this.#zeroCount = cursor.fixedUint(end);
    else if (tag === POSITIVE_TAG) readBuckets(this.#positive, cursor, cursor.enter(end));
    else if (tag === NEGATIVE_TAG) readBuckets(this.#negative, cursor, cursor.enter(end));
    else return this.#numbers.read(tag, cursor, end);
    return true;
  }

  add(table: TableRows, row: number): void {
    const fields: readonly RowField[] = [
      ...this.#numbers.fields(),
      [OTLP_FIELDS.scale, this.#scale],
      [OTLP_FIELDS.zeroCount, this.#zeroCount],
      [OTLP_FIELDS.positiveOffset, this.#positive.offset],
      [OTLP_FIELDS.positiveCounts, JSON.stringify(this.#positive.counts)],
      [OTLP_FIELDS.negativeOffset, this.#negative.offset],
      [OTLP_FIELDS.negativeCounts, JSON.stringify(this.#negative.counts)],
    ];
    addPoint(table, row, fields, this.#limits);
  }
}

const noBuckets = (): Buckets => ({ offset: 0, counts: [] });

function readBuckets(buckets: Buckets, cursor: ProtoCursor, end: number): void {
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    if (tag === OFFSET_TAG) buckets.offset = cursor.sint(end);
    else if (tag >>> 3 === BUCKET_COUNTS)
      cursor.numbers(tag, end, { into: buckets.counts, type: 'uint' });
    else cursor.skip(tag, end);
  }
}
