import type { TableRows } from '../columns/table-rows.js';
import { storeProduct } from '../fast/numbers.js';
import { addValue, type RowPlace, startRow, VALUE_FIELD } from '../messages/row-fields.js';
import { LineRefused } from '../slow-path/line-refused.js';

const NS_PER_MS = 1e6;
/** Largest absolute value of a valid timestamp in milliseconds (years 1677 to 2262). */
const MAX_TIME_MS = 9_223_372_036_854;

export interface SamplePlace extends RowPlace {
  readonly timeMs: number;
}

export interface Sample extends SamplePlace {
  readonly value: number;
  /** Whether the value is the NaN that marks the end of a series. */
  readonly isStale: boolean;
}

/** Adds a row. Throws `LineRefused` if a limit is exceeded; nothing is then added. */
export function addSample(table: TableRows, sample: Sample): void {
  const { value, isStale } = sample;
  addValue(table, startSample(table, sample), { name: VALUE_FIELD, value, isStale });
}

/**
 * Writes the values that all Prometheus rows have, without counting the row. Throws `LineRefused`.
 */
export function startSample(table: TableRows, place: SamplePlace): number {
  const { timeMs } = place;
  if (Math.abs(timeMs) > MAX_TIME_MS)
    throw new LineRefused(
      () => `the timestamp ${timeMs} ms is out of range; use -${MAX_TIME_MS} to ${MAX_TIME_MS}`,
    );
  const row = startRow(table, place);
  const time = { left: Math.abs(timeMs), right: NS_PER_MS, plus: 0, isNegative: timeMs < 0 };
  storeProduct(table.timeWords, 2 * row, time);
  return row;
}
