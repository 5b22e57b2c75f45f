import { columnLimitMessage, MAX_TEXT_BYTES } from '@plinth/tsdb-model/database/limits.js';
import type { TableRows } from '../columns/table-rows.js';
import { OTLP_FIELDS } from '../messages/label-rules.js';
import { FIXED_64, type ProtoCursor, tagOf } from '../messages/proto-cursor.js';
import { addFields, type RowField } from '../messages/row-fields.js';
import { LineRefused } from '../slow-path/line-refused.js';
import type { LineLimits } from '../slow-path/parse-line.js';

const COUNT_TAG = tagOf(4, FIXED_64);
const SUM_TAG = tagOf(5, FIXED_64);

export type PointLimits = Pick<LineLimits, 'columnCount'>;

/** The numbers of a distribution: count, sum, and other doubles, which are optional. */
export class PointNumbers {
  readonly #optional: ReadonlyMap<number, string>;
  readonly #read = new Map<string, number>();
  #count = 0;

  /** @param optional field names by tag */
  constructor(optional: ReadonlyMap<number, string>) {
    this.#optional = new Map([[SUM_TAG, OTLP_FIELDS.sum], ...optional]);
  }

  begin(): void {
    this.#count = 0;
    this.#read.clear();
  }

  read(tag: number, cursor: ProtoCursor, end: number): boolean {
    const field = this.#optional.get(tag);
    if (tag === COUNT_TAG) this.#count = cursor.fixedUint(end);
    else if (field !== undefined) this.#read.set(field, cursor.double(end));
    else return false;
    return true;
  }

  fields(): readonly RowField[] {
    return [[OTLP_FIELDS.count, this.#count], ...this.#read];
  }
}

/**
 * Completes a row, without values that are not numbers. If it throws `LineRefused`, nothing is
 * added.
 */
export function addPoint(
  table: TableRows,
  row: number,
  fields: readonly RowField[],
  { columnCount }: PointLimits,
): void {
  if (fields.length + 1 > columnCount)
    throw new LineRefused(columnLimitMessage(columnCount), { reason: 'limit' });
  if (fields.some(([, value]) => typeof value === 'string' && value.length > MAX_TEXT_BYTES))
    throw new LineRefused('the histogram has too many buckets');
  const present = fields.filter(([, value]) => !Number.isNaN(value));
  addFields(table, row, present);
}
