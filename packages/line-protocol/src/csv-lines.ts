import { CsvFault } from './csv-fault.js';
import { type CsvRecord, headerNames, type RefusedRow, readCsv } from './csv-records.js';
import { escapedKey, escapedTable, quotedText } from './escapes.js';
import { type FieldType, INFINITY, NUMBER, WHOLE } from './field-type.js';
import { type CsvChunk, LinePacker } from './line-packer.js';
import { readTimeNs, TIME_TEXTS, type TimeFormat } from './time-text.js';

export interface CsvMapping {
  readonly table: string;
  readonly tags: readonly string[];
  /**
   * Maps column names to types. If empty, every column that is neither tag nor time is a field
   * typed by its first value.
   */
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Known types of columns that `fields` does not list. */
  readonly types?: ReadonlyMap<string, FieldType>;
  readonly time: string | undefined;
  readonly timeFormat: TimeFormat;
}

const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ['true', 't'],
  ['t', 't'],
  ['1', 't'],
  ['false', 'f'],
  ['f', 'f'],
  ['0', 'f'],
]);

/**
 * Converts CSV into chunks of line protocol of at most `chunkSizeBytes`; a longer line is a separate chunk.
 * Timestamps are nanoseconds. Empty cells are omitted, `""` is an empty string. Throws `CsvFault` after the rows
 * before the fault have been yielded.
 */
export async function* chunkCsv(
  input: AsyncIterable<Uint8Array>,
  mapping: CsvMapping,
  chunkSizeBytes: number,
  refuse: (row: RefusedRow) => void,
): AsyncGenerator<CsvChunk> {
  let toLine: ((cells: Cells) => string) | undefined;
  let columnCount = 0;
  const packer = new LinePacker(chunkSizeBytes);
  try {
    for await (const record of readCsv(input)) {
      if ('message' in record) {
        refuse(record);
        continue;
      }
      const { cells, line } = record;
      if (toLine === undefined) {
        toLine = lineMaker(cells, mapping);
        columnCount = headerNames(cells).findLastIndex((name) => name !== '') + 1;
        continue;
      }
      const point = pointOf(cells, toLine);
      if (typeof point !== 'string') {
        const { message, kind } = point;
        refuse({ line, message, kind });
        continue;
      }
      const isShort = cells.length < columnCount;
      if (packer.add(point, line, isShort)) continue;
      yield packer.take();
      packer.add(point, line, isShort);
    }
  } catch (error) {
    // Rows read before the input failed are still valid.
    if (!packer.isEmpty) yield packer.take();
    throw error;
  }
  if (!packer.isEmpty) yield packer.take();
}

function pointOf(cells: Cells, toLine: (cells: Cells) => string): string | BadCell {
  try {
    return toLine(cells);
  } catch (error) {
    if (error instanceof BadCell) return error;
    throw error;
  }
}

class BadCell extends Error {
  override readonly name = 'BadCell';
  readonly kind: string;
  /** @param kind the same for all cells with the same kind of fault */
  constructor(message: string, kind = message) {
    super(message);
    this.kind = kind;
  }
}

type Cells = CsvRecord['cells'];

function lineMaker(header: Cells, mapping: CsvMapping): (cells: Cells) => string {
  const names = headerNames(header);
  const at = (name: string): number => {
    const index = names.indexOf(name);
    if (index >= 0) return index;
    throw new CsvFault(
      'no_such_column',
      `column '${name}' not found in the CSV file; columns: ${names.join(', ')}`,
    );
  };
  const tags = mapping.tags.map((name) => ({ name, index: at(name), key: escapedKey(name) }));
  const timeIndex = mapping.time === undefined ? undefined : at(mapping.time);
  const isTaken = (name: string) => mapping.tags.includes(name) || name === mapping.time;
  const chosen =
    mapping.fields.size > 0 ? [...mapping.fields.keys()] : names.filter((n) => !isTaken(n));
  const types = new Map([...(mapping.types ?? []), ...mapping.fields]);
  const fields = chosen.map((name) => ({ name, index: at(name), key: escapedKey(name) }));
  const table = escapedTable(mapping.table);
  return (cells) => {
    if (cells.slice(names.length).some((cell) => cell !== undefined)) {
      throw new BadCell(`the row has ${cells.length} values for ${names.length} columns`);
    }
    const tagText = tags
      .filter(({ index }) => (cells[index] ?? '') !== '')
      .map(({ name, index, key }) => `,${key}=${escapeTag(name, cells[index] ?? '')}`);
    const fieldText = fields.flatMap(({ name, index, key }) => {
      const cell = cells[index];
      if (cell === undefined) return [];
      const type = types.get(name) ?? guessType(cell);
      if (cell === '' && type !== 'string') return [];
      types.set(name, type);
      return `${key}=${fieldValue(name, cell, type)}`;
    });
    if (fieldText.length === 0) throw new BadCell('the row has no field value');
    const time = timeIndex === undefined ? '' : ` ${timeText(cells[timeIndex] ?? '', mapping)}`;
    return `${table}${tagText.join('')} ${fieldText.join(',')}${time}\n`;
  };
}

function guessType(cell: string): FieldType {
  if (NUMBER.test(cell)) return 'float';
  return /^(true|false)$/i.test(cell) ? 'bool' : 'string';
}

function fieldValue(name: string, cell: string, type: FieldType): string {
  if (type === 'string') return quotedText(cell);
  const text = cell.trim();
  if (type === 'bool') {
    const value = BOOLEANS.get(text.toLowerCase());
    if (value !== undefined) return value;
  } else if (type === 'float') {
    if (NUMBER.test(text)) return text;
    const sign = INFINITY.exec(text)?.[1];
    if (sign !== undefined) return `${sign === '-' ? '-' : ''}1e999`;
  } else if (WHOLE.test(text)) {
    return `${text}${type === 'int' ? 'i' : 'u'}`;
  }
  throw badCell(name, cell, `is not a valid ${type}`);
}

function timeText(cell: string, { time, timeFormat }: CsvMapping): string {
  const timeNs = readTimeNs(cell.trim(), timeFormat);
  if (timeNs !== undefined) return String(timeNs);
  throw badCell(time, cell, `is not ${TIME_TEXTS[timeFormat]}`);
}

const badCell = (column: string | undefined, cell: string, why: string): BadCell =>
  new BadCell(`column '${column}': '${cell}' ${why}`, `${column} ${why}`);

/** Line protocol cannot express these tag values, because a tab or newline ends the value. */
function escapeTag(name: string, text: string): string {
  if (!/[\t\r\n]/.test(text)) return escapedKey(text);
  throw new BadCell(`column '${name}': a tag cannot contain a tab or a newline`);
}
