import { rowsAtOnce } from '@plinth/tsdb-influxql/execute/series/limit-rows.js';
import { areSameTags } from '@plinth/tsdb-influxql/execute/series/series.js';
import {
  type ResultBlock,
  type ResultHeading,
  type ResultSeries,
  type StatementResult,
  seriesOf,
} from '@plinth/tsdb-influxql/result.js';
import type { TextStyle } from '../../formats/cell-text.js';
import { JsonCells, putLists } from '../../formats/json/json-cells.js';
import type { CellWriter, Infinities } from '../../formats/json/json-values.js';
import { EncodedText, TextBytes } from '../../formats/text-bytes.js';
import { chunkOf, outputOf } from '../result-chunks.js';

export interface JsonOptions {
  readonly epochNs: bigint | undefined;
  readonly style: TextStyle;
  /**
   * Maximum rows per document of a chunked response; `undefined` writes all series in one document.
   */
  readonly documentRows: number | undefined;
  /** Default: `refused`. */
  readonly infinities?: Infinities;
}

/** The start of a statement's result object (`"statement_id":0`, or empty). */
export interface ResultFrame {
  readonly head: string;
}

/** Size at which rows are sent. */
const PIECE_SIZE_BYTES = 128 * 1024;

/**
 * Writes the series of one result, without the surrounding braces. Yields when enough bytes are
 * written.
 * Source: tsdb-http, "JSON response".
 */
export async function* encodeResult(
  result: StatementResult,
  options: JsonOptions,
  params: { readonly frame: ResultFrame; readonly out: TextBytes },
): AsyncGenerator<void, void, undefined> {
  const { out } = params;
  const writer = new ResultWriter(result, options, params);
  const rowCount = rowsAtOnce(result.columns.length);
  let start = out.size;
  for await (const block of result.blocks) {
    writer.take(block);
    for (const span of block.spans) {
      for (let { from } = span; ; from += rowCount) {
        const to = Math.min(span.to, from + rowCount);
        writer.put({ tags: span.tags, from, to }, from > span.from);
        if (out.size - start >= PIECE_SIZE_BYTES) {
          yield;
          start = out.size;
        }
        if (to === span.to) break;
      }
    }
  }
  writer.end();
}

/** Writes one result, span by span. */
class ResultWriter {
  readonly #out: TextBytes;
  readonly #encoders: Encoders;
  readonly #separator: string;
  #encoder: SeriesEncoder;
  #open: SeriesName | undefined;
  #close = '';
  #name = '';
  /** Whether the next span may continue the last series. Only the first span of a block can. */
  #mayGoOn = false;

  constructor(
    result: StatementResult,
    options: JsonOptions,
    { frame, out }: { readonly frame: ResultFrame; readonly out: TextBytes },
  ) {
    this.#out = out;
    this.#encoders = new Encoders(result, options, out);
    this.#encoder = this.#encoders.of({});
    this.#separator = frame.head === '' ? '' : ',';
    out.text(frame.head);
  }

  /** Sets the block of the next spans. */
  take(block: ResultBlock): void {
    this.#name = block.name;
    this.#mayGoOn = this.#open !== undefined && block.areSpansWhole !== true;
    this.#encoder = this.#encoders.of(block);
    this.#encoder.take(block);
  }

  /** @param isRest true if the rows continue the previous span. */
  put({ tags, from, to }: ResultBlock['spans'][number], isRest: boolean): void {
    const out = this.#out;
    const open = this.#open;
    const series = { name: this.#name, tags };
    const goesOn = isRest || (this.#mayGoOn && open !== undefined && isSame(open, series));
    this.#mayGoOn = false;
    if (goesOn) out.byte(COMMA);
    else {
      const hasRows = to > from;
      if (open === undefined) out.ascii(`${this.#separator}"series":[`);
      else out.ascii(this.#close);
      this.#encoder.putHead(series, hasRows);
      this.#open = series;
      this.#close = hasRows ? ']},' : '},';
    }
    this.#encoder.rows(from, to);
  }

  end(): void {
    if (this.#open !== undefined) this.#out.ascii(`${this.#close.slice(0, -1)}]`);
  }
}

/** Encodes a chunked response as several documents. Source: tsdb-http, "Chunking". */
export async function* encodeDocuments(
  result: StatementResult,
  options: JsonOptions,
  frame: ResultFrame,
): AsyncGenerator<string, void, undefined> {
  const out = new TextBytes();
  const encoders = new Encoders(result, options, out);
  const size = options.documentRows || Number.POSITIVE_INFINITY;
  /** Rows of the current series that are not written yet. */
  let pending: { series: ResultSeries; text: string; count: number } | undefined;
  const document = (
    part: { series: ResultSeries; text: string },
    goesOn: 'series' | 'result' | 'end',
  ): string => {
    const partial = goesOn === 'series' ? ',"partial":true' : '';
    const more = goesOn === 'end' ? '' : ',"partial":true';
    const prefix = frame.head === '' ? '' : `${frame.head},`;
    const hasRows = part.text !== '';
    encoders.of(part.series).putHead(part.series, hasRows);
    const series = `${out.take()}${part.text}${hasRows ? ']' : ''}`;
    return `{"results":[{${prefix}"series":[${series}${partial}}]${more}}]}\n`;
  };
  let isEmpty = true;
  for await (const piece of seriesOf(result)) {
    isEmpty = false;
    if (pending !== undefined && !isSame(pending.series, piece)) {
      yield document(pending, 'result');
      pending = undefined;
    }
    const encoder = encoders.of(piece);
    encoder.take(piece);
    if (piece.rowCount === 0) pending ??= { series: piece, text: '', count: 0 };
    for (let from = 0; from < piece.rowCount; ) {
      if (pending !== undefined && pending.count === size) {
        yield document(pending, 'series');
        pending = undefined;
      }
      pending ??= { series: piece, text: '', count: 0 };
      const to = Math.min(piece.rowCount, from + size - pending.count);
      encoder.rows(from, to);
      pending.text += (pending.count === 0 ? '' : ',') + out.take().toString();
      pending.count += to - from;
      from = to;
    }
  }
  if (pending !== undefined) yield document(pending, 'end');
  if (isEmpty) yield `{"results":[{${frame.head}}]}\n`;
}

type SeriesName = Pick<ResultSeries, 'name' | 'tags'>;

export function isSame(a: SeriesName, b: SeriesName): boolean {
  return a.name === b.name && areSameTags(a.tags, b.tags);
}

const COMMA = 44;
const COMMA_TEXT = new EncodedText(',');
const OF_NULL = new EncodedText(',null');

/** Caches the series encoder of a heading. Nearly all results have one heading. */
class Encoders {
  readonly #result: StatementResult;
  readonly #options: JsonOptions;
  readonly #out: TextBytes;
  #heading: ResultHeading;
  #encoder: SeriesEncoder;

  constructor(result: StatementResult, options: JsonOptions, out: TextBytes) {
    this.#result = result;
    this.#options = options;
    this.#out = out;
    this.#heading = result;
    this.#encoder = new SeriesEncoder(result, options, out);
  }

  of({ heading = this.#result }: { readonly heading?: ResultHeading | undefined }): SeriesEncoder {
    if (heading !== this.#heading) {
      this.#heading = heading;
      this.#encoder = new SeriesEncoder({ ...this.#result, ...heading }, this.#options, this.#out);
    }
    return this.#encoder;
  }
}

/**
 * The constant text around the tags and before the rows of a series, as bytes, because results can
 * have thousands of series.
 */
class SeriesFrame {
  readonly tagKeys: readonly EncodedText[];
  readonly rest: EncodedText;
  readonly rowless: EncodedText;
  readonly #tagNames: readonly string[];

  constructor({ columns, tagNames }: ResultHeading) {
    this.#tagNames = tagNames;
    this.tagKeys = tagNames.map(
      (name, i) => new EncodedText(`${i === 0 ? '"tags":{' : ','}${JSON.stringify(name)}:`),
    );
    const names = JSON.stringify(columns.map(({ name }) => name));
    const rowless = `${tagNames.length === 0 ? '' : '},'}"columns":${names}`;
    this.rest = new EncodedText(`${rowless},"values":[`);
    this.rowless = new EncodedText(rowless);
  }

  isOf(tagNames: readonly string[]): boolean {
    return tagNames.length === this.#tagNames.length && areSameTags(tagNames, this.#tagNames);
  }
}

/** A repeated statement has the same column objects. */
const FRAMES = new WeakMap<StatementResult['columns'], SeriesFrame>();

function frameOf(result: ResultHeading): SeriesFrame {
  let frame = FRAMES.get(result.columns);
  if (!frame?.isOf(result.tagNames)) {
    frame = new SeriesFrame(result);
    FRAMES.set(result.columns, frame);
  }
  return frame;
}

class SeriesEncoder {
  readonly #out: TextBytes;
  readonly #cells: JsonCells;
  readonly #frame: SeriesFrame;
  #writers: readonly CellWriter[] = [];
  #leadName: string | undefined;
  #leadPiece: EncodedText | undefined;

  constructor(
    result: StatementResult,
    { epochNs, style, infinities = 'refused' }: JsonOptions,
    out: TextBytes,
  ) {
    this.#out = out;
    const frame = { style, textBefore: COMMA_TEXT, textOfNull: OF_NULL, epochNs, infinities };
    const columns = result.columns.map((column) => ({
      type: outputOf(column, result.zone).type,
      ...frame,
    }));
    this.#cells = new JsonCells(columns, out);
    this.#frame = frameOf(result);
  }

  /** Writes the text before the rows. A series without rows has no `values`. */
  putHead({ name, tags }: SeriesName, hasRows: boolean): void {
    const out = this.#out;
    const { tagKeys, rest, rowless } = this.#frame;
    let prefix = this.#leadPiece;
    if (prefix === undefined || name !== this.#leadName) {
      prefix = new EncodedText(leadOf(name));
      this.#leadName = name;
      this.#leadPiece = prefix;
    }
    out.put(prefix);
    for (let i = 0; i < tagKeys.length; i++) {
      out.put(tagKeys[i] as EncodedText); // i is below the length
      out.jsonText(tags[i] ?? '');
    }
    out.put(hasRows ? rest : rowless);
  }

  /** Sets the block of the next rows. */
  take(block: Pick<ResultBlock, 'columns' | 'vectors' | 'series'>): void {
    this.#writers = this.#cells.of(chunkOf(block));
  }

  /** Writes at least one row, without the surrounding brackets. */
  rows(from: number, to: number): void {
    putLists(this.#writers, { from, to }, this.#out);
  }
}

const leadOf = (name: string): string => (name === '' ? '{' : `{"name":${JSON.stringify(name)},`);
