import { tooManyCells } from '../columns/cell-budget.js';
import type { FieldColumn } from '../columns/field-column.js';
import type { TableRows } from '../columns/table-rows.js';
import { hashSeries, type SeriesDictionary } from '../fast/series-dictionary.js';
import { tagsOfText } from '../new-tags.js';
import type { LineField, ParsedValue } from './line-refused.js';
import type { ParsedLine } from './parse-line.js';

/** Position of a line in its body (see `LineRange`) and its content. */
export interface ParsedRow {
  readonly start: number;
  readonly text: number;
  readonly end: number;
  readonly lineNumber: number;
  readonly parsed: ParsedLine;
  readonly timeNs: bigint;
}

interface Body {
  readonly database: { readonly dictionary: SeriesDictionary };
  readonly body: Uint8Array;
  readonly view: DataView;
}

/**
 * Adds a line from the slow path to its table. Throws `LineRefused` if a limit is exceeded; nothing
 * is then added.
 */
export function addSlowPathRow(table: TableRows, body: Body, row: ParsedRow): void {
  const index = table.rowCount;
  if (index === table.capacity && !table.growRows()) throw tooManyCells();
  writeFields(table, row.parsed.fields);
  table.series[index] = seriesNumber(table, body, row);
  table.timeWords[2 * index] = Number(BigInt.asIntN(32, row.timeNs));
  table.timeWords[2 * index + 1] = Number(row.timeNs >> 32n);
  table.lineStarts[index] = row.start;
  table.lineEnds[index] = row.end;
  table.lineNumbers[index] = row.lineNumber;
  table.rowCount++;
}

/**
 * Writes fields to the table's current row, all or none, and stores the written form of their
 * names.
 */
function writeFields(table: TableRows, fields: readonly LineField[]): void {
  const columns: FieldColumn[] = [];
  for (const { name, key, value } of fields) {
    const slot = table.slot(name);
    const column = slot && table.column(slot, value.type);
    if (slot === undefined || column === undefined || !table.open(column)) {
      for (const written of columns.reverse()) table.undo(written);
      throw tooManyCells();
    }
    table.keys.learn(key, slot);
    writeValue(column, table.rowCount, value);
    column.close(table.rowCount);
    columns.push(column);
  }
}

function seriesNumber(table: TableRows, { database, body, view }: Body, row: ParsedRow): number {
  const { series, seriesEnd } = row.parsed;
  const size = seriesEnd - row.text;
  const hash = hashSeries(view, row.text, size, database.dictionary.hashSeed);
  const found = database.dictionary.find(hash, view, row.text, size);
  const text = body.subarray(row.text, seriesEnd);
  const entry = found >= 0 ? found : table.addSeries({ hash, text, tags: tagsOfText(series) });
  return database.dictionary.series[entry] as number; // `entry` exists
}

function writeValue(column: FieldColumn, row: number, field: ParsedValue): void {
  switch (field.type) {
    case 'int64':
    case 'uint64':
      column.words[2 * row] = Number(BigInt.asIntN(32, field.value));
      column.words[2 * row + 1] = Number(BigInt.asIntN(32, field.value >> 32n));
      return;
    case 'float64':
      column.doubles[row] = field.value;
      return;
    case 'bool':
      column.bytes[row] = field.value ? 1 : 0;
      return;
    case 'utf8':
      column.writeText(row, field.value, 0, field.value.length);
  }
}
