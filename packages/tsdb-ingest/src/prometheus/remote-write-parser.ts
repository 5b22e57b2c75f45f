import type { ParsedBody, RemoteWriteFormat } from '@plinth/tsdb-model/parsed-body.js';
import { type ColumnAllocator, HEAP_ALLOCATOR } from '../columns/column-allocator.js';
import type { TableRows } from '../columns/table-rows.js';
import type { SeriesKey } from '../messages/label-bytes.js';
import { PROMETHEUS } from '../messages/label-rules.js';
import { MessageRows } from '../messages/message-rows.js';
import { BYTES, FIXED_64, ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import type { ParserDictionary } from '../parser-dictionary.js';
import { addHistogram } from './histogram-rows.js';
import { addSample } from './sample-rows.js';
import { keyOfLabels, SymbolTable } from './series-keys.js';

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
  readonly fields: MessageFields;
  readonly symbols: SymbolTable | undefined;
}

const VALUE_TAG = tagOf(1, FIXED_64);
const TIMESTAMP_TAG = tagOf(2, VARINT);

/**
 * Parses Prometheus remote write 1.0 and 2.0 into the same columns as line protocol. A series key
 * is the label messages of a series as sent. Source: tsdb-http, "Prometheus remote write".
 */
export class RemoteWriteParser {
  readonly #rows: MessageRows;
  #cursor = new ProtoCursor(new Uint8Array(0));
  #histogramCount = 0;

  constructor(dictionary: ParserDictionary) {
    this.#rows = new MessageRows(dictionary, { format: 'remote_write', rules: PROMETHEUS });
  }

  /** @param body the decoded request. All errors are in the result. */
  parse(
    body: Uint8Array,
    options: { readonly database: string; readonly format: RemoteWriteFormat },
    allocator: ColumnAllocator = HEAP_ALLOCATOR,
  ): ParsedBody {
    this.#cursor = new ProtoCursor(body);
    this.#histogramCount = 0;
    const { database, format } = options;
    const parsed = this.#rows.parse({ database, size: body.length }, allocator, () =>
      this.#readRequest(FIELDS[format], body.length),
    );
    return { ...parsed, histogramCount: this.#histogramCount };
  }

  #readRequest(fields: MessageFields, end: number): void {
    const cursor = this.#cursor;
    const symbols = fields.hasSymbols ? new SymbolTable(cursor, end) : undefined;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag !== fields.series) {
        cursor.skip(tag, end);
        continue;
      }
      const seriesEnd = cursor.enter(end);
      this.#rows.position++;
      this.#readSeries({ fields, symbols }, seriesEnd);
      cursor.at = seriesEnd;
    }
  }

  #readSeries({ fields, symbols }: RequestContext, end: number): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    const rowCount = this.#countRows(fields, end);
    if (rowCount === 0) return;
    let key: SeriesKey | undefined;
    let added = 0;
    try {
      cursor.at = start;
      key = symbols === undefined ? keyOfLabels(cursor, end) : symbols.keyOf(end);
      const { table, series } = this.#rows.seriesOf(key);
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
      this.#rows.refuse(error, key, rowCount - added);
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
    this.#rows.rowCount += count;
    return count;
  }

  #readHistogram(table: TableRows, series: number, end: number): void {
    addHistogram(table, this.#cursor, { series, position: this.#rows.position, end });
    this.#histogramCount++;
    this.#rows.noteRow(table);
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
    addSample(table, { series, value, isStale, timeMs, position: this.#rows.position });
    this.#rows.noteRow(table);
  }
}
