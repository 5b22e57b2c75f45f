import {
  type Answer,
  type AnswerBlock,
  type AnswerHeading,
  type AnswerSeries,
  seriesOf,
} from '@plinth/tsdb-influxql/answer.js';
import { rowsAtOnce } from '@plinth/tsdb-influxql/execute/series/cut-rows.js';
import { areSameTags } from '@plinth/tsdb-influxql/execute/series/series.js';
import type { TextStyle } from '../../formats/cell-text.js';
import { JsonCells, putLists } from '../../formats/json/json-cells.js';
import type { CellWriter, Infinities } from '../../formats/json/json-values.js';
import { EncodedText, TextBytes } from '../../formats/text-bytes.js';
import { chunkOf, outputOf } from '../answer-chunks.js';

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
  answer: Answer,
  options: JsonOptions,
  params: { readonly frame: ResultFrame; readonly out: TextBytes },
): AsyncGenerator<void, void, undefined> {
  const { out } = params;
  const writer = new ResultWriter(answer, options, params);
  const rowCount = rowsAtOnce(answer.columns.length);
  let start = out.size;
  for await (const block of answer.blocks) {
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
    answer: Answer,
    options: JsonOptions,
    { frame, out }: { readonly frame: ResultFrame; readonly out: TextBytes },
  ) {
    this.#out = out;
    this.#encoders = new Encoders(answer, options, out);
    this.#encoder = this.#encoders.of({});
    this.#separator = frame.head === '' ? '' : ',';
    out.text(frame.head);
  }

  /** Sets the block of the next spans. */
  take(block: AnswerBlock): void {
    this.#name = block.name;
    this.#mayGoOn = this.#open !== undefined && block.areSpansWhole !== true;
    this.#encoder = this.#encoders.of(block);
    this.#encoder.take(block);
  }

  /** @param isRest true if the rows continue the previous span. */
  put({ tags, from, to }: AnswerBlock['spans'][number], isRest: boolean): void {
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
  answer: Answer,
  options: JsonOptions,
  frame: ResultFrame,
): AsyncGenerator<string, void, undefined> {
  const out = new TextBytes();
  const encoders = new Encoders(answer, options, out);
  const size = options.documentRows || Number.POSITIVE_INFINITY;
  /** Rows of the current series that are not written yet. */
  let held: { series: AnswerSeries; text: string; count: number } | undefined;
  const document = (
    part: { series: AnswerSeries; text: string },
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
  for await (const piece of seriesOf(answer)) {
    isEmpty = false;
    if (held !== undefined && !isSame(held.series, piece)) {
      yield document(held, 'result');
      held = undefined;
    }
    const encoder = encoders.of(piece);
    encoder.take(piece);
    if (piece.rowCount === 0) held ??= { series: piece, text: '', count: 0 };
    for (let from = 0; from < piece.rowCount; ) {
      if (held !== undefined && held.count === size) {
        yield document(held, 'series');
        held = undefined;
      }
      held ??= { series: piece, text: '', count: 0 };
      const to = Math.min(piece.rowCount, from + size - held.count);
      encoder.rows(from, to);
      held.text += (held.count === 0 ? '' : ',') + out.take().toString();
      held.count += to - from;
      from = to;
    }
  }
  if (held !== undefined) yield document(held, 'end');
  if (isEmpty) yield `{"results":[{${frame.head}}]}\n`;
}

type SeriesName = Pick<AnswerSeries, 'name' | 'tags'>;

export function isSame(a: SeriesName, b: SeriesName): boolean {
  return a.name === b.name && areSameTags(a.tags, b.tags);
}

const COMMA = 44;
const COMMA_TEXT = new EncodedText(',');
const OF_NULL = new EncodedText(',null');

/** Caches the series encoder of a heading. Nearly all results have one heading. */
class Encoders {
  readonly #answer: Answer;
  readonly #options: JsonOptions;
  readonly #out: TextBytes;
  #heading: AnswerHeading;
  #encoder: SeriesEncoder;

  constructor(answer: Answer, options: JsonOptions, out: TextBytes) {
    this.#answer = answer;
    this.#options = options;
    this.#out = out;
    this.#heading = answer;
    this.#encoder = new SeriesEncoder(answer, options, out);
  }

  of({ heading = this.#answer }: { readonly heading?: AnswerHeading | undefined }): SeriesEncoder {
    if (heading !== this.#heading) {
      this.#heading = heading;
      this.#encoder = new SeriesEncoder({ ...this.#answer, ...heading }, this.#options, this.#out);
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

  constructor({ columns, tagNames }: AnswerHeading) {
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
const FRAMES = new WeakMap<Answer['columns'], SeriesFrame>();

function frameOf(answer: AnswerHeading): SeriesFrame {
  let frame = FRAMES.get(answer.columns);
  if (!frame?.isOf(answer.tagNames)) {
    frame = new SeriesFrame(answer);
    FRAMES.set(answer.columns, frame);
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
    answer: Answer,
    { epochNs, style, infinities = 'refused' }: JsonOptions,
    out: TextBytes,
  ) {
    this.#out = out;
    const frame = { style, textBefore: COMMA_TEXT, textOfNull: OF_NULL, epochNs, infinities };
    const columns = answer.columns.map((column) => ({
      type: outputOf(column, answer.zone).type,
      ...frame,
    }));
    this.#cells = new JsonCells(columns, out);
    this.#frame = frameOf(answer);
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
  take(block: Pick<AnswerBlock, 'columns' | 'vectors' | 'series'>): void {
    this.#writers = this.#cells.of(chunkOf(block));
  }

  /** Writes at least one row, without the surrounding brackets. */
  rows(from: number, to: number): void {
    putLists(this.#writers, { from, to }, this.#out);
  }
}

const leadOf = (name: string): string => (name === '' ? '{' : `{"name":${JSON.stringify(name)},`);
