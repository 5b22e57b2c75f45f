import type { RefusedLine } from '@plinth/tsdb-model/parsed-body.js';
import {
  MAX_REFUSED_LINES,
  type ParsedBody,
  type RemoteWriteFormat,
  type SparseTable,
} from '@plinth/tsdb-model/parsed-body.js';
import { BodyTooSparse, tooManyCells } from '../columns/cell-budget.js';
import { type ColumnMemory, OWN_MEMORY } from '../columns/column-memory.js';
import type { TableRows } from '../columns/table-rows.js';
import { hashSeries } from '../fast/series-dictionary.js';
import type { DatabaseNames, ParserMemory } from '../parser-memory.js';
import { LineRefused } from '../slow-path/line-refused.js';
import { addHistogram } from './histogram-rows.js';
import { LabelSet, shownSeries } from './label-set.js';
import { BYTES, FIXED_64, MessageInvalid, ProtoCursor, tagOf, VARINT } from './proto-cursor.js';
import { addSample } from './sample-rows.js';
import { keyOfLabels, type SeriesKey, SymbolTable } from './series-keys.js';

/** Tags of the fields that are read. */
interface MessageFields {
  readonly series: number;
  readonly samples: number;
  readonly histograms: number;
  readonly hasSymbols: boolean;
}

const FIELDS: Readonly<Record<RemoteWriteFormat, MessageFields>> = {
  remote_write: {
    series: tagOf(1, BYTES),
    samples: tagOf(2, BYTES),
    histograms: tagOf(4, BYTES),
    hasSymbols: false,
  },
  remote_write_2: {
    series: tagOf(5, BYTES),
    samples: tagOf(2, BYTES),
    histograms: tagOf(3, BYTES),
    hasSymbols: true,
  },
};

interface RequestContext {
  readonly names: DatabaseNames;
  readonly fields: MessageFields;
  readonly symbols: SymbolTable | undefined;
}

const VALUE_TAG = tagOf(1, FIXED_64);
const TIMESTAMP_TAG = tagOf(2, VARINT);

/**
 * Parses Prometheus remote write 1.0 and 2.0 into the same columns as line protocol. Shares the
 * names of its `ParserMemory` with the line protocol parser: a series key is the label messages of
 * a series as sent, which no line of line protocol can be, because its first byte is a line break.
 * Source: tsdb-http, "Prometheus remote write".
 */
export class RemoteWriteParser {
  readonly #memory: ParserMemory;
  readonly #labels: LabelSet;
  #cursor = new ProtoCursor(new Uint8Array(0));
  #used: TableRows[] = [];
  #refused: RefusedLine[] = [];
  #refusedCount = 0;
  #rowCount = 0;
  #histogramCount = 0;
  #seriesCount = 0;

  constructor(memory: ParserMemory) {
    this.#memory = memory;
    this.#labels = new LabelSet(memory.lineLimits);
  }

  /** @param body the decoded request. All errors are in the result. */
  parse(
    body: Uint8Array,
    options: { readonly database: string; readonly format: RemoteWriteFormat },
    memory: ColumnMemory = OWN_MEMORY,
  ): ParsedBody {
    this.#memory.begin(body.length);
    const names = this.#memory.names(options.database);
    this.#cursor = new ProtoCursor(body);
    try {
      this.#readRequest(names, FIELDS[options.format], body.length);
      for (const table of this.#used) table.noteCells();
    } catch (error) {
      if (error instanceof BodyTooSparse) return this.#refuseBody(memory, { tooSparse: error.at });
      if (error instanceof MessageInvalid)
        return this.#refuseBody(memory, { invalid: error.message });
      throw error;
    }
    return this.#take(memory);
  }

  #readRequest(names: DatabaseNames, fields: MessageFields, end: number): void {
    const cursor = this.#cursor;
    const symbols = fields.hasSymbols ? new SymbolTable(cursor, end) : undefined;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag !== fields.series) {
        cursor.skip(tag, end);
        continue;
      }
      const seriesEnd = cursor.enter(end);
      this.#seriesCount++;
      this.#readSeries({ names, fields, symbols }, seriesEnd);
      cursor.at = seriesEnd;
    }
  }

  #readSeries({ names, fields, symbols }: RequestContext, end: number): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    const rowCount = this.#countRows(fields, end);
    if (rowCount === 0) return;
    let key: SeriesKey | undefined;
    let added = 0;
    try {
      cursor.at = start;
      key = symbols === undefined ? keyOfLabels(cursor, end) : symbols.keyOf(end);
      const entry = this.#entryOf(names, key);
      // The dictionary contains only entries of tables that exist.
      const table = this.#memory.tables[names.dictionary.tables[entry] as number] as TableRows;
      const series = names.dictionary.series[entry] as number;
      cursor.at = start;
      while (cursor.at < end) {
        const tag = cursor.tag(end);
        if (tag === fields.samples) this.#readSample(table, series, cursor.enter(end));
        else if (tag === fields.histograms) this.#readHistogram(table, series, cursor.enter(end));
        else {
          cursor.skip(tag, end);
          continue;
        }
        added++;
      }
    } catch (error) {
      if (!(error instanceof LineRefused)) throw error;
      this.#refuse(error, key && shownSeries(key.bytes, key.start, key.end), rowCount - added);
    }
  }

  /** Counts the rows of the series at the cursor. */
  #countRows(fields: MessageFields, end: number): number {
    const cursor = this.#cursor;
    let count = 0;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      cursor.skip(tag, end);
      if (tag === fields.samples || tag === fields.histograms) count++;
    }
    this.#rowCount += count;
    return count;
  }

  #readHistogram(table: TableRows, series: number, end: number): void {
    addHistogram(table, this.#cursor, { series, seriesNumber: this.#seriesCount, end });
    this.#histogramCount++;
    if (table.rowCount === 1) this.#used.push(table);
  }

  #readSample(table: TableRows, series: number, end: number): void {
    const cursor = this.#cursor;
    let value = 0;
    let isStale = false;
    let timeMs = 0;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag === VALUE_TAG) {
        value = cursor.double(end);
        isStale = Number.isNaN(value) && cursor.isStaleMarker(cursor.at - 8);
      } else if (tag === TIMESTAMP_TAG) timeMs = cursor.int(end);
      else cursor.skip(tag, end);
    }
    addSample(table, { series, value, isStale, timeMs, seriesNumber: this.#seriesCount });
    if (table.rowCount === 1) this.#used.push(table);
  }

  /** The dictionary entry of a series key, added if new. Throws `LineRefused`. */
  #entryOf(names: DatabaseNames, key: SeriesKey): number {
    const { dictionary, previousEntry } = names;
    const { bytes, view, start } = key;
    const size = key.end - start;
    const guess = previousEntry < 0 ? -1 : (dictionary.followers[previousEntry] as number);
    let entry = guess;
    if (guess < 0 || dictionary.sizeOf(guess) !== size || !dictionary.isAt(guess, view, start)) {
      const hash = hashSeries(view, start, size, dictionary.hashSeed);
      entry = dictionary.find(hash, view, start, size);
      if (entry < 0) {
        this.#labels.read(bytes, start, key.end);
        const table = this.#memory.table(names, this.#labels.table);
        const text = bytes.subarray(start, key.end);
        entry = table.addSeries({ hash, text, tags: this.#labels });
      }
    }
    if (previousEntry >= 0) dictionary.followers[previousEntry] = entry;
    names.previousEntry = entry;
    return entry;
  }

  #refuse(refusal: LineRefused, originalLine = '', rowCount: number): void {
    this.#refusedCount += rowCount;
    if (this.#refused.length >= MAX_REFUSED_LINES) return;
    const { message, isLimit } = refusal;
    this.#refused.push({ lineNumber: this.#seriesCount, originalLine, message, isLimit });
  }

  /** Drops all rows; series that were numbered stay known, so the result has to be noted. */
  #refuseBody(
    memory: ColumnMemory,
    why: { readonly tooSparse?: SparseTable; readonly invalid?: string },
  ): ParsedBody {
    for (const table of this.#used) table.dropRows();
    this.#refuse(tooManyCells(), '', this.#rowCount);
    return { ...this.#take(memory), ...why };
  }

  #take(memory: ColumnMemory): ParsedBody {
    memory.begin(this.#used.reduce((sum, table) => sum + table.takenBytes, 0));
    const parsed: ParsedBody = {
      format: 'remote_write',
      tables: this.#used.map((table) => table.take(memory)),
      refused: this.#refused,
      refusedCount: this.#refusedCount,
      lineCount: this.#rowCount,
      histogramCount: this.#histogramCount,
      tooSparse: undefined,
      epoch: this.#memory.epoch,
    };
    this.#used = [];
    this.#refused = [];
    this.#refusedCount = 0;
    this.#rowCount = 0;
    this.#histogramCount = 0;
    this.#seriesCount = 0;
    return parsed;
  }
}
