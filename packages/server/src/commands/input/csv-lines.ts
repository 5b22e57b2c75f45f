import { CommandFailed, EXIT } from '../output/exit.js';
import { type CsvRecord, readCsv } from './csv-records.js';
import type { Chunk } from './line-chunks.js';
import { escapedKey, escapedTable, quotedText } from './line-text.js';
import { readTimeNs, type TimeFormat } from './time-text.js';

export type FieldType = 'float' | 'int' | 'uint' | 'string' | 'bool';

export interface CsvMapping {
  readonly table: string;
  readonly tags: readonly string[];
  /** Column to type; empty means every column that is neither tag nor time, typed by its first value. */
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Types of columns that `fields` does not name, where they are known. */
  readonly types?: ReadonlyMap<string, FieldType>;
  readonly time: string | undefined;
  readonly timeFormat: TimeFormat;
}

/** A row that could not become a point. */
export interface RefusedRow {
  readonly line: number;
  readonly message: string;
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ['true', 't'],
  ['t', 't'],
  ['1', 't'],
  ['false', 'f'],
  ['f', 'f'],
  ['0', 'f'],
]);

/** Turns CSV into chunks of line protocol; timestamps are nanoseconds. Empty cells are left out, `""` is an empty text. */
export async function* chunkCsv(
  input: AsyncIterable<Uint8Array>,
  mapping: CsvMapping,
  chunkSizeBytes: number,
  refuse: (row: RefusedRow) => void,
): AsyncGenerator<Chunk> {
  let toLine: ((cells: Cells) => string) | undefined;
  let lines: string[] = [];
  let fileLines: number[] = [];
  let size = 0;
  const flush = (): Chunk => {
    const known = fileLines;
    const chunk = {
      bytes: Buffer.from(lines.join('')),
      pointCount: lines.length,
      fileLineOf: (bodyLine: number) => known[bodyLine - 1] ?? 0,
    };
    lines = [];
    fileLines = [];
    size = 0;
    return chunk;
  };
  try {
    for await (const { cells, line } of readCsv(input)) {
      if (toLine === undefined) {
        toLine = lineMaker(cells, mapping);
        continue;
      }
      try {
        const text = toLine(cells);
        lines.push(text);
        // A quoted newline makes one row several body lines; all of them are this row.
        for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
          fileLines.push(line);
        }
        size += Buffer.byteLength(text);
      } catch (error) {
        if (!(error instanceof BadCell)) throw error;
        refuse({ line, message: error.message });
      }
      if (size >= chunkSizeBytes) yield flush();
    }
  } catch (error) {
    // What was read before the input failed is as good as ever.
    if (lines.length > 0) yield flush();
    throw error;
  }
  if (lines.length > 0) yield flush();
}

class BadCell extends Error {
  override readonly name = 'BadCell';
  readonly kind = 'bad_cell';
}

type Cells = CsvRecord['cells'];

function lineMaker(header: Cells, mapping: CsvMapping): (cells: Cells) => string {
  const names = namesOf(header);
  const at = (name: string): number => {
    const index = names.indexOf(name);
    if (index >= 0) return index;
    throw new CommandFailed(
      `the CSV file has no column '${name}'; it has ${names.join(', ')}`,
      EXIT.usage,
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
    if (fieldText.length === 0) throw new BadCell('no field has a value');
    const time = timeIndex === undefined ? '' : ` ${timeText(cells[timeIndex] ?? '', mapping)}`;
    return `${table}${tagText.join('')} ${fieldText.join(',')}${time}\n`;
  };
}

const WHOLE = /^-?\d+$/;
/** Line protocol says infinity as a number that is too large. */
const INFINITY = /^([+-]?)inf(?:inity)?$/i;
const LARGEST_SIGNED = 2n ** 63n - 1n;

/** Columns whose every value is a number: whole where all of them are, so that none is rounded. */
export async function findNumberColumns(
  input: AsyncIterable<Uint8Array>,
): Promise<ReadonlyMap<string, 'int' | 'uint' | 'float'>> {
  let names: readonly string[] | undefined;
  const types: ('whole' | 'float' | 'other')[] = [];
  const largest: bigint[] = [];
  for await (const { cells } of readCsv(input)) {
    if (names === undefined) {
      names = namesOf(cells);
      continue;
    }
    for (let i = 0; i < names.length; i++) {
      const cell = cells[i]?.trim() ?? '';
      if (cell === '' || types[i] === 'other') continue;
      if (!WHOLE.test(cell)) types[i] = isFloat(cell) ? 'float' : 'other';
      else types[i] ??= 'whole';
      // Shorter ones fit whatever they are.
      if (types[i] === 'whole' && cell.length > 18)
        largest[i] = max(largest[i] ?? 0n, BigInt(cell));
    }
  }
  const found = new Map<string, 'int' | 'uint' | 'float'>();
  names?.forEach((name, i) => {
    if (types[i] === 'float') found.set(name, 'float');
    if (types[i] === 'whole') found.set(name, (largest[i] ?? 0n) > LARGEST_SIGNED ? 'uint' : 'int');
  });
  return found;
}

const isFloat = (cell: string): boolean => NUMBER.test(cell) || INFINITY.test(cell);

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Names in the first line; some programs put a mark before it. */
function namesOf(header: Cells): readonly string[] {
  return header.map((name = '', index) => (index === 0 ? name.replace(/^\uFEFF/, '') : name));
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
  throw new BadCell(`column '${name}': '${cell}' is no ${type}`);
}

function timeText(cell: string, { time, timeFormat }: CsvMapping): string {
  const timeNs = readTimeNs(cell.trim(), timeFormat);
  if (timeNs !== undefined) return String(timeNs);
  throw new BadCell(`column '${time}': '${cell}' is no time in the format ${timeFormat}`);
}

/** Line protocol has no way to write these: a tab or newline ends the value. */
function escapeTag(name: string, text: string): string {
  if (!/[\t\r\n]/.test(text)) return escapedKey(text);
  throw new BadCell(`column '${name}': a tag cannot hold a tab or a newline`);
}
