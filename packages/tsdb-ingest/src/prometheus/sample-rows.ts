import { tooManyCells } from '../columns/cell-budget.js';
import type { FieldColumn } from '../columns/field-column.js';
import type { TableRows } from '../columns/table-rows.js';
import { storeProduct } from '../fast/numbers.js';
import { LineRefused } from '../slow-path/line-refused.js';

/** The field of a sample. */
export const VALUE_FIELD = 'value';
/**
 * The field of a sample that is not a number: true for a stale marker, false for another NaN. Such
 * a row has no `value`, so that aggregates skip it.
 */
export const STALE_FIELD = 'stale';
const NS_PER_MS = 1e6;
/** Milliseconds of the first and last valid timestamps, 1677 and 2262. */
const MAX_TIME_MS = 9_223_372_036_854;

export interface Sample {
  readonly series: number;
  readonly value: number;
  /** Whether the value is the NaN that marks the end of a series. */
  readonly isStale: boolean;
  readonly timeMs: number;
  /** Position of the series in the request, from 1. */
  readonly seriesNumber: number;
}

/** Adds a row. Throws `LineRefused`, and adds nothing, if a limit is exceeded. */
export function addSample(table: TableRows, sample: Sample): void {
  const row = startRow(table, sample);
  const { value } = sample;
  if (Number.isNaN(value)) {
    const column = openColumn(table, STALE_FIELD, 'bool');
    column.bytes[row] = sample.isStale ? 1 : 0;
    column.close(row);
  } else {
    const column = openColumn(table, VALUE_FIELD, 'float64');
    column.doubles[row] = value;
    column.close(row);
  }
  table.rowCount = row + 1;
}

/** Writes what all rows have, without counting the row. Throws `LineRefused`. */
export function startRow(
  table: TableRows,
  { series, timeMs, seriesNumber }: Omit<Sample, 'value' | 'isStale'>,
): number {
  const row = table.rowCount;
  if (Math.abs(timeMs) > MAX_TIME_MS)
    throw new LineRefused(() => `the timestamp ${timeMs} ms is out of range`);
  if (row === table.capacity && !table.growRows()) throw tooManyCells();
  table.series[row] = series;
  const time = { left: Math.abs(timeMs), right: NS_PER_MS, plus: 0, isNegative: timeMs < 0 };
  storeProduct(table.timeWords, 2 * row, time);
  table.lineStarts[row] = 0;
  table.lineEnds[row] = 0;
  table.lineNumbers[row] = seriesNumber;
  return row;
}

export function openColumn(table: TableRows, name: string, type: FieldColumn['type']): FieldColumn {
  const slot = table.slot(name);
  const column = slot && table.column(slot, type);
  if (column === undefined || !table.open(column)) throw tooManyCells();
  return column;
}
