import type { TableRows } from '../columns/table-rows.js';
import { BYTES, FIXED_64, type ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import type { RowField } from '../messages/row-fields.js';
import { LineRefused } from '../slow-path/line-refused.js';
import { decimalText } from './decimal-text.js';
import { addPoint, type PointLimits, PointNumbers } from './point-fields.js';
import type { PointKind } from './point-kind.js';

const QUANTILE_VALUES_TAG = tagOf(6, BYTES);
const QUANTILE_TAG = tagOf(1, FIXED_64);
const VALUE_TAG = tagOf(2, FIXED_64);

/** `SummaryDataPoint`. A quantile is a field named by its number. */
export class SummaryPoint implements PointKind {
  readonly hasTemporality = false;
  readonly attributes = tagOf(7, BYTES);
  readonly flags = tagOf(8, VARINT);
  readonly exemplars = -1;
  readonly #limits: PointLimits;
  readonly #numbers = new PointNumbers(new Map());
  #quantiles: RowField[] = [];

  constructor(limits: PointLimits) {
    this.#limits = limits;
  }

  begin(): void {
    this.#numbers.begin();
    this.#quantiles = [];
  }

  read(tag: number, cursor: ProtoCursor, end: number): boolean {
    if (tag !== QUANTILE_VALUES_TAG) return this.#numbers.read(tag, cursor, end);
    const inner = cursor.enter(end);
    let quantile = 0;
    let value = 0;
    while (cursor.at < inner) {
      const field = cursor.tag(inner);
      if (field === QUANTILE_TAG) quantile = cursor.double(inner);
      else if (field === VALUE_TAG) value = cursor.double(inner);
      else cursor.skip(field, inner);
    }
    this.#quantiles.push([decimalText(quantile), value]);
    return true;
  }

  add(table: TableRows, row: number): void {
    const names = new Set(this.#quantiles.map(([name]) => name));
    if (names.size < this.#quantiles.length)
      throw new LineRefused('the summary contains a quantile more than once');
    addPoint(table, row, [...this.#numbers.fields(), ...this.#quantiles], this.#limits);
  }
}
