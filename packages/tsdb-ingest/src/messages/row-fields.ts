import { tooManyCells } from '../columns/cell-budget.js';
import type { FieldColumn } from '../columns/field-column.js';
import type { TableRows } from '../columns/table-rows.js';

/** The field that stores the value of a Prometheus sample. */
export const VALUE_FIELD = 'value';
/**
 * The field of a value that is not a number: true for a stale marker, false for another NaN. Such a
 * row has no value, so that aggregates skip it.
 */
export const STALE_FIELD = 'stale';

export interface RowPlace {
  readonly series: number;
  /** Position of the series or data point in the request, from 1. */
  readonly position: number;
}

/** A field of a row. A number is a float. */
export type RowField = readonly [name: string, value: number | boolean | string];

/**
 * Writes the values that all rows have, except the timestamp, without counting the row. Throws
 * `LineRefused`.
 */
export function startRow(table: TableRows, { series, position }: RowPlace): number {
  const row = table.rowCount;
  if (row === table.capacity && !table.growRows()) throw tooManyCells();
  table.series[row] = series;
  table.lineStarts[row] = 0;
  table.lineEnds[row] = 0;
  table.lineNumbers[row] = position;
  return row;
}

/** Completes a row with one value. If it throws `LineRefused`, nothing is added. */
export function addValue(
  table: TableRows,
  row: number,
  { name, value, isStale }: { name: string; value: number; isStale: boolean },
): void {
  if (Number.isNaN(value)) {
    const column = openColumn(table, STALE_FIELD, 'bool');
    column.bytes[row] = isStale ? 1 : 0;
    column.close(row);
  } else {
    const column = openColumn(table, name, 'float64');
    column.doubles[row] = value;
    column.close(row);
  }
  table.rowCount = row + 1;
}

/** Completes a row with fields of different names. If it throws `LineRefused`, nothing is added. */
export function addFields(table: TableRows, row: number, fields: readonly RowField[]): void {
  const written: FieldColumn[] = [];
  try {
    for (const [name, value] of fields) written.push(addField(table, row, name, value));
  } catch (error) {
    for (const column of written.reverse()) table.undo(column);
    throw error;
  }
  table.rowCount = row + 1;
}

function addField(table: TableRows, row: number, name: string, value: RowField[1]): FieldColumn {
  const type = typeof value === 'number' ? 'float64' : typeof value === 'boolean' ? 'bool' : 'utf8';
  const column = openColumn(table, name, type);
  if (typeof value === 'number') column.doubles[row] = value;
  else if (typeof value === 'boolean') column.bytes[row] = value ? 1 : 0;
  else {
    const bytes = Buffer.from(value);
    column.writeText(row, bytes, 0, bytes.length);
  }
  column.close(row);
  return column;
}

function openColumn(table: TableRows, name: string, type: FieldColumn['type']): FieldColumn {
  const slot = table.slot(name);
  const column = slot && table.column(slot, type);
  if (column === undefined || !table.open(column)) throw tooManyCells();
  return column;
}
