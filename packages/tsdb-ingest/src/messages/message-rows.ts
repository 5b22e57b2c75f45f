import type { ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import { MAX_REFUSED_LINES, type RefusedLine } from '@plinth/tsdb-model/refused-line.js';
import { BodyTooSparse, tooManyCells } from '../columns/cell-budget.js';
import type { ColumnAllocator } from '../columns/column-allocator.js';
import type { TableRows } from '../columns/table-rows.js';
import { hashSeries } from '../fast/series-dictionary.js';
import type { DatabaseDictionary, ParserDictionary } from '../parser-dictionary.js';
import { LineRefused } from '../slow-path/line-refused.js';
import type { SeriesKey } from './label-bytes.js';
import type { LabelRules } from './label-rules.js';
import { LabelSet, shownSeries } from './label-set.js';
import { MessageInvalid } from './proto-cursor.js';

type BodyFormat = NonNullable<ParsedBody['format']>;

/**
 * The rows and refusals of one body of Protocol Buffers. Shares the tables, fields and series of
 * its `ParserDictionary` with the line protocol parser: the key of a series is its label messages. They
 * cannot be a line of line protocol, because their first byte is a line break.
 */
export class MessageRows {
  readonly #dictionary: ParserDictionary;
  readonly #labels: LabelSet;
  readonly #rules: LabelRules;
  readonly #format: BodyFormat;
  #database: DatabaseDictionary | undefined;
  #used: TableRows[] = [];
  #refused: RefusedLine[] = [];
  #refusedCount = 0;
  /** Rows of the body, refused ones included. */
  rowCount = 0;
  /** Position of the current series or data point in the body, from 1. */
  position = 0;

  constructor(
    dictionary: ParserDictionary,
    { format, rules }: { readonly format: BodyFormat; readonly rules: LabelRules },
  ) {
    this.#dictionary = dictionary;
    this.#labels = new LabelSet(dictionary.lineLimits, rules);
    this.#rules = rules;
    this.#format = format;
  }

  /**
   * @param read adds the rows of the body; may throw `MessageInvalid`, which refuses all of them.
   * All errors are in the result.
   */
  parse(
    body: { readonly database: string; readonly size: number },
    allocator: ColumnAllocator,
    read: () => void,
  ): ParsedBody {
    this.#dictionary.begin(body.size);
    this.#database = this.#dictionary.database(body.database);
    try {
      read();
      for (const table of this.#used) table.noteCells();
    } catch (error) {
      if (error instanceof BodyTooSparse)
        return this.#refuseBody(allocator, { tooSparse: error.at });
      if (error instanceof MessageInvalid)
        return this.#refuseBody(allocator, { invalid: error.message });
      throw error;
    }
    return this.#take(allocator);
  }

  /**
   * Returns the table and number of a series, which is added if new. Throws `LineRefused`, and
   * `MessageInvalid`.
   */
  seriesOf(key: SeriesKey): { table: TableRows; series: number } {
    const { dictionary } = this.#currentDatabase;
    const entry = this.#entryOf(key);
    // The dictionary contains only entries of tables that exist.
    const table = this.#dictionary.tables[dictionary.tables[entry] as number] as TableRows;
    return { table, series: dictionary.series[entry] as number };
  }

  /** Called after each row that was added to a table. */
  noteRow(table: TableRows): void {
    if (table.rowCount === 1) this.#used.push(table);
  }

  /** Reports rows of a series that are not stored. Throws everything except `LineRefused`. */
  refuse(error: unknown, key: SeriesKey | undefined, rowCount: number): void {
    if (!(error instanceof LineRefused)) throw error;
    // Formatting the labels of every refused row would cost more than parsing the body.
    const isKept = this.#refused.length < MAX_REFUSED_LINES;
    this.#refuse(error, isKept && key ? shownSeries(key, this.#rules) : '', rowCount);
  }

  get #currentDatabase(): DatabaseDictionary {
    return this.#database as DatabaseDictionary; // `parse` sets it
  }

  /** Returns the dictionary entry of a series key, which is added if new. Throws `LineRefused`. */
  #entryOf(key: SeriesKey): number {
    const database = this.#currentDatabase;
    const { dictionary, previousEntry } = database;
    const { bytes, view, start } = key;
    const size = key.end - start;
    const guess = previousEntry < 0 ? -1 : (dictionary.followers[previousEntry] as number);
    let entry = guess;
    if (guess < 0 || dictionary.sizeOf(guess) !== size || !dictionary.isAt(guess, view, start)) {
      const hash = hashSeries(view, start, size, dictionary.hashSeed);
      entry = dictionary.find(hash, view, start, size);
      if (entry < 0) {
        this.#labels.read(key);
        const table = this.#dictionary.table(database, this.#labels.table);
        const text = bytes.subarray(start, key.end);
        entry = table.addSeries({ hash, text, tags: this.#labels });
      }
    }
    if (previousEntry >= 0) dictionary.followers[previousEntry] = entry;
    database.previousEntry = entry;
    return entry;
  }

  #refuse({ message, reason }: LineRefused, originalLine: string, rowCount: number): void {
    this.#refusedCount += rowCount;
    if (this.#refused.length >= MAX_REFUSED_LINES) return;
    this.#refused.push({ lineNumber: this.position, originalLine, message, reason });
  }

  /** Drops all rows; series that were numbered stay known, so the result must be recorded. */
  #refuseBody(
    allocator: ColumnAllocator,
    why: Pick<ParsedBody, 'invalid'> & Partial<Pick<ParsedBody, 'tooSparse'>>,
  ): ParsedBody {
    for (const table of this.#used) table.dropRows();
    this.#refuse(tooManyCells(), '', this.rowCount);
    return { ...this.#take(allocator), ...why };
  }

  #take(allocator: ColumnAllocator): ParsedBody {
    allocator.begin(this.#used.reduce((sum, table) => sum + table.takenBytes, 0));
    const parsed: ParsedBody = {
      format: this.#format,
      tables: this.#used.map((table) => table.take(allocator)),
      refused: this.#refused,
      refusedCount: this.#refusedCount,
      lineCount: this.rowCount,
      tooSparse: undefined,
      epoch: this.#dictionary.epoch,
    };
    this.#used = [];
    this.#refused = [];
    this.#refusedCount = 0;
    this.rowCount = 0;
    this.position = 0;
    return parsed;
  }
}
