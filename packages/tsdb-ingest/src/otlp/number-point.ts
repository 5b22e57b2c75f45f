import type { TableRows } from '../columns/table-rows.js';
import { OTLP_FIELDS } from '../messages/label-rules.js';
import { BYTES, FIXED_64, type ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import { addValue } from '../messages/row-fields.js';
import { LineRefused } from '../slow-path/line-refused.js';
import type { MetricTraits, PointKind } from './point-kind.js';

const DOUBLE_TAG = tagOf(4, FIXED_64);
const INT_TAG = tagOf(6, FIXED_64);

/** `NumberDataPoint` of gauges and sums. */
export class NumberPoint implements PointKind {
  readonly hasTemporality: boolean;
  readonly attributes = tagOf(7, BYTES);
  readonly flags = tagOf(8, VARINT);
  readonly exemplars = tagOf(5, BYTES);
  #value = 0;
  #isStale = false;
  #hasValue = false;

  constructor({ hasTemporality }: { readonly hasTemporality: boolean }) {
    this.hasTemporality = hasTemporality;
  }

  begin(): void {
    this.#hasValue = false;
    this.#isStale = false;
  }

  read(tag: number, cursor: ProtoCursor, end: number): boolean {
    if (tag === DOUBLE_TAG) {
      this.#value = cursor.double(end);
      this.#isStale = Number.isNaN(this.#value) && cursor.isStaleMarker(cursor.at - 8);
    } else if (tag === INT_TAG) this.#value = cursor.fixedInt(end);
    else return false;
    this.#hasValue = true;
    return true;
  }

  add(table: TableRows, row: number, { isMonotonic }: MetricTraits): void {
    if (!this.#hasValue) throw new LineRefused('the data point has no value');
    const name = isMonotonic ? OTLP_FIELDS.counter : OTLP_FIELDS.gauge;
    addValue(table, row, { name, value: this.#value, isStale: this.#isStale });
  }
}
