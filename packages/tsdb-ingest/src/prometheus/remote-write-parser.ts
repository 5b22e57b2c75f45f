import type { RefusedLine } from '@plinth/tsdb-model/parsed-body.js';
import {
  MAX_REFUSED_LINES,
  type ParsedBody,
  type SparseTable,
} from '@plinth/tsdb-model/parsed-body.js';
import { BodyTooSparse, tooManyCells } from '../columns/cell-budget.js';
import { type ColumnMemory, OWN_MEMORY } from '../columns/column-memory.js';
import type { TableRows } from '../columns/table-rows.js';
import { hashSeries } from '../fast/series-dictionary.js';
import type { DatabaseNames, ParserMemory } from '../parser-memory.js';
import { LineRefused } from '../slow-path/line-refused.js';
import { LABEL_TAG, LabelSet, shownSeries } from './label-set.js';
import { BYTES, FIXED_64, MessageInvalid, ProtoCursor, tagOf, VARINT } from './proto-cursor.js';
import { addSample } from './sample-rows.js';

const SERIES_TAG = tagOf(1, BYTES);
const SAMPLE_TAG = tagOf(2, BYTES);
const VALUE_TAG = tagOf(1, FIXED_64);
const TIMESTAMP_TAG = tagOf(2, VARINT);

/**
 * Parses the samples of Prometheus remote write into the same columns as line protocol. Shares the
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
  #sampleCount = 0;
  #seriesCount = 0;

  constructor(memory: ParserMemory) {
    this.#memory = memory;
    this.#labels = new LabelSet(memory.lineLimits);
  }

  /** @param body the decoded request. All errors are in the result. */
  parse(body: Uint8Array, database: string, memory: ColumnMemory = OWN_MEMORY): ParsedBody {
    this.#memory.begin(body.length);
    const names = this.#memory.names(database);
    this.#cursor = new ProtoCursor(body);
    try {
      this.#readRequest(names, body.length);
      for (const table of this.#used) table.noteCells();
    } catch (error) {
      if (error instanceof BodyTooSparse) return this.#refuseBody(memory, { tooSparse: error.at });
      if (error instanceof MessageInvalid)
        return this.#refuseBody(memory, { invalid: error.message });
      throw error;
    }
    return this.#take(memory);
  }

  #readRequest(names: DatabaseNames, end: number): void {
    const cursor = this.#cursor;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag !== SERIES_TAG) {
        cursor.skip(tag, end);
        continue;
      }
      const seriesEnd = cursor.enter(end);
      this.#seriesCount++;
      this.#readSeries(names, seriesEnd);
      cursor.at = seriesEnd;
    }
  }

  #readSeries(names: DatabaseNames, end: number): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    let labelsEnd = start;
    let key: { bytes: Uint8Array; view: DataView; start: number; end: number } = {
      bytes: cursor.bytes,
      view: cursor.view,
      start,
      end: start,
    };
    let isContiguous = true;
    let sampleCount = 0;
    while (cursor.at < end) {
      const fieldStart = cursor.at;
      const tag = cursor.tag(end);
      cursor.skip(tag, end);
      if (tag === SAMPLE_TAG) sampleCount++;
      if (tag !== LABEL_TAG) continue;
      if (fieldStart === labelsEnd) labelsEnd = cursor.at;
      else isContiguous = false;
    }
    key.end = labelsEnd;
    if (!isContiguous) key = this.#gathered(start, end);
    this.#sampleCount += sampleCount;
    if (sampleCount === 0) return;
    let added = 0;
    try {
      const entry = this.#entryOf(names, key);
      // The dictionary contains only entries of tables that exist.
      const table = this.#memory.tables[names.dictionary.tables[entry] as number] as TableRows;
      const series = names.dictionary.series[entry] as number;
      cursor.at = start;
      while (cursor.at < end) {
        const tag = cursor.tag(end);
        if (tag !== SAMPLE_TAG) {
          cursor.skip(tag, end);
          continue;
        }
        this.#readSample(table, series, cursor.enter(end));
        added++;
      }
    } catch (error) {
      if (!(error instanceof LineRefused)) throw error;
      this.#refuse(error, shownSeries(key.bytes, key.start, key.end), sampleCount - added);
    }
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

  /** Copies labels that are not next to each other. */
  #gathered(start: number, end: number) {
    const cursor = this.#cursor;
    const parts: Uint8Array[] = [];
    cursor.at = start;
    while (cursor.at < end) {
      const fieldStart = cursor.at;
      const tag = cursor.tag(end);
      cursor.skip(tag, end);
      if (tag === LABEL_TAG) parts.push(cursor.bytes.subarray(fieldStart, cursor.at));
    }
    const bytes = Buffer.concat(parts);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { bytes, view, start: 0, end: bytes.length };
  }

  /** The dictionary entry of a series key, added if new. Throws `LineRefused`. */
  #entryOf(
    names: DatabaseNames,
    key: { readonly bytes: Uint8Array; readonly view: DataView; start: number; end: number },
  ): number {
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

  #refuse(refusal: LineRefused, originalLine: string, sampleCount: number): void {
    this.#refusedCount += sampleCount;
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
    this.#refuse(tooManyCells(), '', this.#sampleCount);
    return { ...this.#take(memory), ...why };
  }

  #take(memory: ColumnMemory): ParsedBody {
    memory.begin(this.#used.reduce((sum, table) => sum + table.takenBytes, 0));
    const parsed: ParsedBody = {
      format: 'remote_write',
      tables: this.#used.map((table) => table.take(memory)),
      refused: this.#refused,
      refusedCount: this.#refusedCount,
      lineCount: this.#sampleCount,
      tooSparse: undefined,
      epoch: this.#memory.epoch,
    };
    this.#used = [];
    this.#refused = [];
    this.#refusedCount = 0;
    this.#sampleCount = 0;
    this.#seriesCount = 0;
    return parsed;
  }
}
