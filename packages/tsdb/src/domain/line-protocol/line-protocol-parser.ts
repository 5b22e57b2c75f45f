import {
  MAX_REFUSED_LINES,
  type ParsedBody,
  type ParsedSeries,
  type Precision,
  type RefusedLine,
} from '../../model/parsed-body.js';
import { type CarefulLine, parseLineCarefully, parseSeriesCarefully } from './careful-line.js';
import type { FieldColumn } from './field-column.js';
import { type CarefulValue, LineRefused } from './line-refused.js';
import { findLineEnd } from './line-splitter.js';
import { hashSeries, SeriesDictionary } from './series-dictionary.js';
import { TableRows } from './table-rows.js';
import { arrivalTime, toNanoseconds } from './time-scale.js';
import { assertUtf8, characterBorder } from './utf8.js';

export interface ParseOptions {
  readonly database: string;
  readonly precision: Precision;
  /** Arrival of the request: the time of lines without one. */
  readonly receivedNs: bigint;
}

export interface ParserLimits {
  /** When the names a parser remembers pass a limit, it forgets all of them before the next body: a new `epoch`. */
  readonly maxSeriesCount: number;
  readonly maxSizeBytes: number;
}

const DEFAULT_LIMITS: ParserLimits = { maxSeriesCount: 4_000_000, maxSizeBytes: 512 * 1024 * 1024 };
const MAX_ORIGINAL_LINE_BYTES = 1024;
/** What a remembered table or field costs beside its text, roughly. */
const TABLE_SIZE_BYTES = 1024;

interface DatabaseNames {
  readonly dictionary: SeriesDictionary;
  readonly tables: Map<string, TableRows>;
}

/** Turns line protocol into columns. Pure: no I/O, no clock. Remembers tables, fields and series between bodies. */
export class LineProtocolParser {
  readonly #limits: ParserLimits;
  #databases = new Map<string, DatabaseNames>();
  #tables: TableRows[] = [];
  #epoch = 0;
  #used: TableRows[] = [];
  #refused: RefusedLine[] = [];
  #refusedCount = 0;
  #lineCount = 0;

  constructor(limits: ParserLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Throws `BodyNotUtf8`; everything else that is wrong with a body is in the result. */
  parse(body: Uint8Array, options: ParseOptions): ParsedBody {
    assertUtf8(body);
    this.#forgetWhenFull();
    const names = this.#names(options.database);
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
    const arrivalNs = arrivalTime(options.receivedNs, options.precision);
    let lineNumber = 1;
    for (let at = 0; at < body.length; ) {
      const start = skipBlanks(body, at);
      const first = body[start];
      if (first === undefined) break;
      const isBlank = first === 10 || (first === 13 && (body[start + 1] ?? 10) === 10);
      const end =
        first === 35 || isBlank ? endOf(body, start) : findLineEnd(body, start, body.length);
      if (first !== 35 && !isBlank) {
        this.#lineCount++;
        this.#parseLine(names, { body, view, at, start, end, lineNumber, arrivalNs }, options);
      }
      lineNumber += 1 + countNewlines(body, at, end);
      at = end + 1;
    }
    return this.#take();
  }

  /** Tag set of a series that this parser has met in the current epoch. */
  seriesOf(parserTable: number, series: number): ParsedSeries | undefined {
    const table = this.#tables[parserTable];
    const text = table?.seriesText(series);
    if (text === undefined) return undefined;
    const { tagKeys, tagValues } = parseSeriesCarefully(text, 0, text.length);
    return { tagKeys, tagValues };
  }

  #parseLine(names: DatabaseNames, line: LineAt, options: ParseOptions): void {
    const isCrlf = line.end > line.start && line.body[line.end - 1] === 13;
    const end = isCrlf ? line.end - 1 : line.end;
    try {
      const parsed = parseLineCarefully(line.body, line.start, end);
      const timeNs =
        parsed.timestamp === undefined
          ? line.arrivalNs
          : toNanoseconds(parsed.timestamp, options.precision);
      this.#addRow(names, line, { parsed, timeNs, end });
    } catch (error) {
      if (!(error instanceof LineRefused)) throw error;
      this.#refuse(line, end, error.message);
    }
  }

  #addRow(
    names: DatabaseNames,
    line: LineAt,
    row: { parsed: CarefulLine; timeNs: bigint; end: number },
  ): void {
    const { series, fields, seriesEnd } = row.parsed;
    const table = this.#table(names, series.table);
    const rowIndex = table.rowCount;
    if (rowIndex === table.capacity) table.growRows();
    if (rowIndex === 0) this.#used.push(table);
    const size = seriesEnd - line.start;
    const hash = hashSeries(line.view, line.start, size);
    let entry = names.dictionary.find(hash, line.view, line.start, size);
    if (entry < 0) {
      const text = line.body.subarray(line.start, seriesEnd);
      entry = names.dictionary.add(hash, text, table.parserTable, table.seriesCount);
      table.addSeries(entry, { tagKeys: series.tagKeys, tagValues: series.tagValues });
    }
    table.series[rowIndex] = names.dictionary.series[entry] as number; // entry exists
    table.timeWords[2 * rowIndex] = Number(BigInt.asIntN(32, row.timeNs));
    table.timeWords[2 * rowIndex + 1] = Number(row.timeNs >> 32n);
    table.lineStarts[rowIndex] = line.at;
    table.lineEnds[rowIndex] = row.end;
    table.lineNumbers[rowIndex] = line.lineNumber;
    for (const field of fields) {
      const column = table.column(table.slot(field.name), field.value.type);
      table.open(column);
      writeValue(column, rowIndex, field.value);
      column.close(rowIndex);
    }
    table.rowCount++;
  }

  #refuse(line: LineAt, end: number, message: string): void {
    this.#refusedCount++;
    if (this.#refused.length >= MAX_REFUSED_LINES) return;
    const bytes = line.body.subarray(line.at, end);
    const cut = bytes.subarray(
      0,
      characterBorder(bytes, Math.min(bytes.length, MAX_ORIGINAL_LINE_BYTES)),
    );
    const originalLine = Buffer.from(cut.buffer, cut.byteOffset, cut.length).toString();
    this.#refused.push({ lineNumber: line.lineNumber, originalLine, message, isLimit: false });
  }

  #names(database: string): DatabaseNames {
    let names = this.#databases.get(database);
    if (names === undefined) {
      names = { dictionary: new SeriesDictionary(), tables: new Map() };
      this.#databases.set(database, names);
    }
    return names;
  }

  #table(names: DatabaseNames, table: string): TableRows {
    let rows = names.tables.get(table);
    if (rows === undefined) {
      rows = new TableRows(table, this.#tables.length, names.dictionary);
      this.#tables.push(rows);
      names.tables.set(table, rows);
    }
    return rows;
  }

  #forgetWhenFull(): void {
    let seriesCount = 0;
    let sizeBytes = this.#tables.length * TABLE_SIZE_BYTES;
    for (const { dictionary } of this.#databases.values()) {
      seriesCount += dictionary.count;
      sizeBytes += dictionary.sizeBytes;
    }
    if (seriesCount <= this.#limits.maxSeriesCount && sizeBytes <= this.#limits.maxSizeBytes)
      return;
    this.#databases = new Map();
    this.#tables = [];
    this.#epoch++;
  }

  #take(): ParsedBody {
    const parsed: ParsedBody = {
      tables: this.#used.map((table) => table.take()),
      refused: this.#refused,
      refusedCount: this.#refusedCount,
      lineCount: this.#lineCount,
      epoch: this.#epoch,
    };
    this.#used = [];
    this.#refused = [];
    this.#refusedCount = 0;
    this.#lineCount = 0;
    return parsed;
  }
}

/** One line of a body: it begins at `at`, its first byte that is not blank is at `start`, its newline at `end`. */
interface LineAt {
  readonly body: Uint8Array;
  readonly view: DataView;
  readonly at: number;
  readonly start: number;
  readonly end: number;
  readonly lineNumber: number;
  readonly arrivalNs: bigint;
}

function writeValue(column: FieldColumn, row: number, field: CarefulValue): void {
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

function skipBlanks(body: Uint8Array, start: number): number {
  let at = start;
  while (body[at] === 32 || body[at] === 9) at++;
  return at;
}

function endOf(body: Uint8Array, start: number): number {
  const end = body.indexOf(10, start);
  return end < 0 ? body.length : end;
}

function countNewlines(body: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = body.indexOf(10, start); at >= 0 && at < end; at = body.indexOf(10, at + 1))
    count++;
  return count;
}
