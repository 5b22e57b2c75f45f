import { invariant } from '@plinth/kernel';
import type { Precision } from '@plinth/tsdb-model/parsed-body.js';
import type { TableRows } from '../columns/table-rows.js';
import { type NewTags, tagsOfText } from '../new-tags.js';
import type { DatabaseDictionary, ParserDictionary } from '../parser-dictionary.js';
import { LineRefused } from '../slow-path/line-refused.js';
import { parseSeriesOnSlowPath } from '../slow-path/parse-line.js';
import { FastFields } from './fast-fields.js';
import { FastSeries } from './fast-series.js';
import { FastTime, nextLineAfter } from './fast-time.js';
import { hashSeries } from './series-dictionary.js';

const TAB = 9;
const NEWLINE = 10;
const SPACE = 32;
const HASH = 35;
const BACKSLASH = 92;
const NOT_FAST = -1;
const NEW_SERIES = -2;
const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(new ArrayBuffer(0));

/**
 * The known tables, fields and series of a database, and time options of the request; `used` collects tables in order
 * of their first row.
 */
export interface FastContext {
  readonly database: DatabaseDictionary;
  readonly used: TableRows[];
  readonly precision: Precision;
  readonly arrivalNs: bigint;
}

/**
 * Parses ordinary lines of known tables directly from bytes into columns. It stops before the first
 * other line: a comment, an unknown table or field, an escape or newline in a value, or an error.
 * Property tests verify that accepted lines have the same result as on the slow path.
 * Array accesses need no bounds checks, because every line passed to `read` ends with a newline,
 * where every loop stops.
 */
export class FastLines {
  /** Number of the next line. */
  lineNumber = 1;
  lineCount = 0;
  readonly #dictionary: ParserDictionary;
  readonly #fields = new FastFields();
  readonly #plainSeries = new FastSeries();
  readonly #times = new Map<Precision, FastTime>();
  #time = new FastTime('nanosecond');
  #arrivalLow = 0;
  #arrivalHigh = 0;
  #database: DatabaseDictionary | undefined;
  #used: TableRows[] = [];
  #bytes: Uint8Array = NO_BYTES;
  #view: DataView = NO_VIEW;
  /** Index in the body of byte 0 of `#bytes`. */
  #offset = 0;
  /** State of the current line: end and hash of its series, and its tags if the series is new. */
  #seriesEnd = 0;
  #hash = 0;
  #newTags: NewTags | undefined;

  constructor(dictionary: ParserDictionary) {
    this.#dictionary = dictionary;
  }

  /** Starts a body. */
  begin(context: FastContext): void {
    this.lineNumber = 1;
    this.lineCount = 0;
    this.#database = context.database;
    this.#used = context.used;
    this.#arrivalLow = Number(BigInt.asIntN(32, context.arrivalNs));
    this.#arrivalHigh = Number(context.arrivalNs >> 32n);
    const time = this.#times.get(context.precision) ?? new FastTime(context.precision);
    this.#times.set(context.precision, time);
    this.#time = time;
  }

  /** Sets the buffer of the next lines; its byte 0 is byte `offset` of the body. */
  load(bytes: Uint8Array, view: DataView, offset: number): void {
    this.#bytes = bytes;
    this.#view = view;
    this.#offset = offset;
    this.#fields.load(bytes, view);
  }

  /**
   * Parses lines from `start` on; the last one ends at `end`. @returns the start of the first line
   * that was left.
   */
  read(start: number, end: number): number {
    const database = this.#database;
    invariant(database !== undefined, 'begin() must be called before read()');
    let at = start;
    while (at < end) {
      const next = this.#line(database, at);
      if (next < 0) return at;
      at = next;
      this.lineNumber++;
      this.lineCount++;
    }
    return at;
  }

  #line(database: DatabaseDictionary, start: number): number {
    const entry = this.#entryAt(database, start);
    const table = this.#tableOf(database, entry, start);
    if (table === undefined) return NOT_FAST;
    const row = table.rowCount;
    if (row === table.capacity && !table.growRows()) return NOT_FAST;
    const fieldsEnd = this.#fields.read(table, this.#seriesEnd + 1);
    const lineEnd = fieldsEnd < 0 ? NOT_FAST : this.#timeAt(table, fieldsEnd);
    const next = lineEnd < 0 ? NOT_FAST : nextLineAfter(this.#bytes, lineEnd);
    if (next < 0) {
      this.#fields.undo(table);
      return NOT_FAST;
    }
    const seriesEntry = entry >= 0 ? entry : this.#addSeries(table, start);
    if (database.previousEntry >= 0)
      database.dictionary.followers[database.previousEntry] = seriesEntry;
    database.previousEntry = seriesEntry;
    table.series[row] = database.dictionary.series[seriesEntry] as number;
    table.lineStarts[row] = this.#offset + start;
    table.lineEnds[row] = this.#offset + lineEnd;
    table.lineNumbers[row] = this.lineNumber;
    if (row === 0) this.#used.push(table);
    table.rowCount = row + 1;
    return next;
  }

  /** Finds the series of the line at `start`: a dictionary entry, `NEW_SERIES`, or `NOT_FAST`. */
  #entryAt(database: DatabaseDictionary, start: number): number {
    const { dictionary, previousEntry } = database;
    const guess = previousEntry < 0 ? -1 : (dictionary.followers[previousEntry] as number);
    if (guess >= 0) {
      const end = start + dictionary.sizeOf(guess);
      if (this.#bytes[end] === SPACE && dictionary.isAt(guess, this.#view, start)) {
        this.#seriesEnd = end;
        return guess;
      }
    }
    const end = this.#findSeriesEnd(start);
    if (end < 0) return NOT_FAST;
    this.#seriesEnd = end;
    this.#hash = hashSeries(this.#view, start, end - start, dictionary.hashSeed);
    const entry = dictionary.find(this.#hash, this.#view, start, end - start);
    return entry >= 0 ? entry : NEW_SERIES;
  }

  /**
   * Returns the index of the first unescaped space; -1 for blank lines, comments and lines for the
   * slow path.
   */
  #findSeriesEnd(start: number): number {
    const bytes = this.#bytes;
    // The line is blank, a comment, or starts with an unusual byte.
    if ((bytes[start] as number) <= HASH) return NOT_FAST;
    for (let at = start; ; at++) {
      let byte = bytes[at] as number;
      if (byte === SPACE) return at;
      if (byte === BACKSLASH) byte = bytes[++at] as number;
      if (byte === NEWLINE || byte === TAB) return NOT_FAST;
    }
  }

  #tableOf(database: DatabaseDictionary, entry: number, start: number): TableRows | undefined {
    if (entry >= 0) return this.#dictionary.tables[database.dictionary.tables[entry] as number];
    if (entry === NOT_FAST) return undefined;
    return this.#newTableAt(database, start, this.#seriesEnd);
  }

  #newTableAt(database: DatabaseDictionary, start: number, end: number): TableRows | undefined {
    if (this.#plainSeries.read(this.#bytes, start, end)) {
      this.#newTags = this.#plainSeries;
      return database.tables.get(this.#plainSeries.table);
    }
    try {
      const series = parseSeriesOnSlowPath(
        this.#bytes,
        { start, end },
        this.#dictionary.lineLimits,
      );
      this.#newTags = tagsOfText(series);
      return database.tables.get(series.table);
    } catch (error) {
      if (error instanceof LineRefused) return undefined;
      throw error;
    }
  }

  /**
   * A series is added only after its complete line was parsed, so that a rejected line has no
   * effect.
   */
  #addSeries(table: TableRows, start: number): number {
    invariant(
      this.#newTags !== undefined,
      'the tags of a new series must be read before its fields',
    );
    const text = this.#bytes.subarray(start, this.#seriesEnd);
    return table.addSeries({ hash: this.#hash, text, tags: this.#newTags });
  }

  #timeAt(table: TableRows, at: number): number {
    const index = 2 * table.rowCount;
    if (this.#bytes[at] === SPACE)
      return this.#time.read(this.#bytes, at + 1, table.timeWords, index);
    table.timeWords[index] = this.#arrivalLow;
    table.timeWords[index + 1] = this.#arrivalHigh;
    return at;
  }
}
