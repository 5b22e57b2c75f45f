import type { TableRows } from '../columns/table-rows.js';
import { OTLP_FIELDS } from '../messages/label-rules.js';
import { BYTES, FIXED_64, type ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import { LineRefused } from '../slow-path/line-refused.js';
import { decimalText } from './decimal-text.js';
import { addPoint, type PointLimits, PointNumbers } from './point-fields.js';
import type { PointKind } from './point-kind.js';

const BUCKET_COUNTS = 6;
const EXPLICIT_BOUNDS = 7;
const NUMBERS = new Map([
  [tagOf(11, FIXED_64), OTLP_FIELDS.min],
  [tagOf(12, FIXED_64), OTLP_FIELDS.max],
]);

/** `HistogramDataPoint`. A bucket is a field with the name of its upper bound. */
export class HistogramPoint implements PointKind {
  readonly hasTemporality = true;
  readonly attributes = tagOf(9, BYTES);
  readonly flags = tagOf(10, VARINT);
  readonly exemplars = tagOf(8, BYTES);
  readonly #limits: PointLimits;
  readonly #numbers = new PointNumbers(NUMBERS);
  #counts: number[] = [];
  #bounds: number[] = [];

  constructor(limits: PointLimits) {
    this.#limits = limits;
  }

  begin(): void {
    this.#numbers.begin();
    this.#counts = [];
    this.#bounds = [];
  }

  read(tag: number, cursor: ProtoCursor, end: number): boolean {
    if (this.#numbers.read(tag, cursor, end)) return true;
    if (tag >>> 3 === BUCKET_COUNTS)
      cursor.numbers(tag, end, { into: this.#counts, type: 'fixedUint' });
    else if (tag >>> 3 === EXPLICIT_BOUNDS)
      cursor.numbers(tag, end, { into: this.#bounds, type: 'double' });
    else return false;
    return true;
  }

  add(table: TableRows, row: number): void {
    const counts = this.#counts;
    const bounds = this.#bounds;
    if (counts.length !== bounds.length + 1 && (counts.length > 0 || bounds.length > 0))
      throw new LineRefused(
        `the histogram has ${counts.length} buckets and ${bounds.length} bounds; the number of buckets must be one more than the number of bounds`,
      );
    if (bounds.some((bound, i) => !(bound > (bounds[i - 1] ?? Number.NEGATIVE_INFINITY))))
      throw new LineRefused('the bounds of the histogram are not in increasing order');
    if (bounds.at(-1) === Number.POSITIVE_INFINITY)
      throw new LineRefused('the last bound of the histogram is not a finite number');
    let total = 0;
    const buckets = counts.map((count, i) => {
      total += count;
      return [decimalText(bounds[i] ?? Number.POSITIVE_INFINITY), total] as const;
    });
    addPoint(table, row, [...this.#numbers.fields(), ...buckets], this.#limits);
  }
}
