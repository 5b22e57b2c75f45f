import type { ParsedBody, Precision, SparseTable } from '@plinth/tsdb-model/parsed-body.js';
import { MAX_REFUSED_LINES, type RefusedLine } from '@plinth/tsdb-model/refused-line.js';
import { BodyTooSparse } from './columns/cell-budget.js';
import { type ColumnAllocator, HEAP_ALLOCATOR } from './columns/column-allocator.js';
import type { TableRows } from './columns/table-rows.js';
import { FastLines } from './fast/fast-lines.js';
import { findLineEnd } from './line-splitter.js';
import {
  type DatabaseDictionary,
  DEFAULT_LIMITS,
  ParserDictionary,
  type ParserLimits,
} from './parser-dictionary.js';
import { LineRefused } from './slow-path/line-refused.js';
import { originalLine } from './slow-path/original-line.js';
import { parseLineOnSlowPath } from './slow-path/parse-line.js';
import { addSlowPathRow } from './slow-path/parse-rows.js';
import { arrivalTime, toNanoseconds } from './time-scale.js';
import { assertUtf8 } from './utf8.js';

export interface ParseOptions {
  readonly database: string;
  readonly precision: Precision;
  /** Time at which the request arrived; used for lines without a timestamp. */
  readonly receivedNs: bigint;
}

/** A last line without a newline is copied up to this size, so that the fast path can parse it. */
const MAX_COPIED_LINE_BYTES = 65_536;
const NEWLINE = 10;
const RETURN = 13;
const HASH = 35;

/**
 * Parses line protocol into columns. Pure: no I/O, no clock. Keeps tables, fields and series
 * between bodies. Ordinary lines use the fast path (`FastLines`), all others the slow path
 * (`parseLineOnSlowPath`).
 */
export class LineProtocolParser {
  readonly #dictionary: ParserDictionary;
  readonly #fast: FastLines;
  readonly #maxCells: number;
  #lastLine = new Uint8Array(0);
  #used: TableRows[] = [];
  #refused: RefusedLine[] = [];
  #refusedCount = 0;

  /**
   * @param hashSeed any integer; secret if clients are untrusted.
   * @param dictionary shared with parsers of other formats.
   */
  constructor(
    limits: ParserLimits = DEFAULT_LIMITS,
    hashSeed = 0,
    dictionary = new ParserDictionary(limits, hashSeed),
  ) {
    this.#dictionary = dictionary;
    this.#fast = new FastLines(this.#dictionary);
    this.#maxCells = limits.maxCells;
  }

  /** Clears all tables, fields and series to free memory. Call only between bodies. */
  clear(): void {
    this.#dictionary.clear();
  }

  /** Throws `body_not_utf8`; all other errors are in the result. */
  parse(
    body: Uint8Array,
    options: ParseOptions,
    allocator: ColumnAllocator = HEAP_ALLOCATOR,
  ): ParsedBody {
    assertUtf8(body);
    this.#dictionary.begin(body.length);
    const database = this.#dictionary.database(options.database);
    const { precision } = options;
    const arrivalNs = arrivalTime(options.receivedNs, precision);
    this.#fast.begin({ database, used: this.#used, precision, arrivalNs });
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
    // Shared by all lines on the slow path.
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const context = { database, body: bytes, view, precision, arrivalNs };
    const wholeLinesEnd = body.lastIndexOf(NEWLINE) + 1;
    this.#fast.load(body, view, 0);
    try {
      let at = 0;
      while (at < wholeLinesEnd) {
        at = this.#fast.read(at, wholeLinesEnd);
        if (at < wholeLinesEnd) at = this.#readSlowPath(context, at);
      }
      if (at < body.length && !this.#readLastLine(body, at)) this.#readSlowPath(context, at);
      for (const table of this.#used) table.noteCells();
    } catch (error) {
      if (!(error instanceof BodyTooSparse)) throw error;
      for (const table of this.#used) table.dropRows();
      this.#refuseRest();
      return this.#takeParsed(allocator, error.at);
    }
    return this.#takeParsed(allocator);
  }

  /** Tries the fast path on a last line without a newline. */
  #readLastLine(body: Uint8Array, start: number): boolean {
    const size = body.length - start;
    if (size > MAX_COPIED_LINE_BYTES) return false;
    if (this.#lastLine.length <= size) this.#lastLine = new Uint8Array(2 * size + 1);
    const line = this.#lastLine;
    line.set(body.subarray(start));
    line[size] = NEWLINE;
    this.#fast.load(line, new DataView(line.buffer), start);
    return this.#fast.read(0, size + 1) > 0;
  }

  /**
   * Parses one line of any kind at `start`, including blank lines and comments. @returns the start
   * of the next one.
   */
  #readSlowPath(context: BodyContext, start: number): number {
    const { body } = context;
    const text = skipBlanks(body, start);
    const isIgnored = isComment(body, text) || isBlank(body, text);
    const end = isIgnored ? endOf(body, text) : findLineEnd(body, text, body.length);
    if (!isIgnored) {
      this.#fast.lineCount++;
      const isCrlf = end > text && body[end - 1] === RETURN;
      this.#parseLine(context, { start, text, end: isCrlf ? end - 1 : end });
    }
    this.#fast.lineNumber += 1 + countNewlines(body, start, end);
    return end + 1;
  }

  #parseLine(context: BodyContext, line: LineRange): void {
    try {
      const range = { start: line.text, end: line.end };
      const parsed = parseLineOnSlowPath(context.body, range, this.#dictionary.lineLimits);
      const timeNs =
        parsed.timestamp === undefined
          ? context.arrivalNs
          : toNanoseconds(parsed.timestamp, context.precision);
      const table = this.#dictionary.table(context.database, parsed.series.table);
      addSlowPathRow(table, context, {
        ...line,
        lineNumber: this.#fast.lineNumber,
        parsed,
        timeNs,
      });
      if (table.rowCount === 1) this.#used.push(table);
    } catch (error) {
      if (!(error instanceof LineRefused)) throw error;
      this.#refuse(context.body, line, error);
    }
  }

  #refuse(body: Uint8Array, line: LineRange, refusal: LineRefused): void {
    this.#refusedCount++;
    if (this.#refused.length >= MAX_REFUSED_LINES) return;
    this.#refused.push({
      lineNumber: this.#fast.lineNumber,
      originalLine: originalLine(body, line.start, line.end),
      message: refusal.message,
      reason: refusal.reason,
    });
  }

  /** Counts one more rejection, so that the result does not look complete. */
  #refuseRest(): void {
    this.#refusedCount++;
    const { lineNumber } = this.#fast;
    this.#refused.push({
      lineNumber,
      originalLine: '',
      message: `the request exceeds the limit of ${this.#maxCells} cells (rows × columns); send smaller requests`,
      reason: 'limit',
    });
  }

  #takeParsed(allocator: ColumnAllocator, tooSparse?: SparseTable): ParsedBody {
    allocator.begin(this.#used.reduce((sum, table) => sum + table.takenBytes, 0));
    const parsed: ParsedBody = {
      tables: this.#used.map((table) => table.take(allocator)),
      refused: this.#refused,
      refusedCount: this.#refusedCount,
      lineCount: this.#fast.lineCount,
      tooSparse,
      epoch: this.#dictionary.epoch,
    };
    this.#used = [];
    this.#refused = [];
    this.#refusedCount = 0;
    return parsed;
  }
}

interface BodyContext {
  readonly database: DatabaseDictionary;
  readonly body: Uint8Array;
  readonly view: DataView;
  readonly precision: Precision;
  readonly arrivalNs: bigint;
}

/** A line from `start` to `end` (without its line break); `text` is its first non-blank byte. */
interface LineRange {
  readonly start: number;
  readonly text: number;
  readonly end: number;
}

function isComment(body: Uint8Array, at: number): boolean {
  return body[at] === HASH;
}

function isBlank(body: Uint8Array, at: number): boolean {
  const end = body[at] === RETURN ? at + 1 : at;
  return end >= body.length || body[end] === NEWLINE;
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
