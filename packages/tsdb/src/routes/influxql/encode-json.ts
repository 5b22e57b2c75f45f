import type { Answer, AnswerSeries } from '../../domain/influxql/answer.js';
import { TextBytes } from '../formats/text-bytes.js';
import { type ColumnWriter, columnWriter, type Infinities } from './column-writer.js';

export interface JsonOptions {
  readonly epochNs: bigint | undefined;
  /** Rows of a chunk; `undefined`: all series in one document. */
  readonly chunkSize: number | undefined;
  /** `refused` unless told otherwise. */
  readonly infinities?: Infinities;
}

/** A statement's outcome: what its result object begins with (`"statement_id":0`, or nothing). */
export interface ResultFrame {
  readonly head: string;
}

/** Rows are handed on when there is so much of them. */
const PIECE_SIZE_BYTES = 16 * 1024;

/**
 * Writes the series of one result, as the inside of `{...}`, and yields when there is something worth sending.
 * Source: tsdb-http, "JSON response".
 */
export async function* encodeResult(
  answer: Answer,
  options: JsonOptions,
  { frame, out }: { readonly frame: ResultFrame; readonly out: TextBytes },
): AsyncGenerator<void, void, undefined> {
  const encoder = new SeriesEncoder(answer, options, out);
  const separator = frame.head === '' ? '' : ',';
  let open: AnswerSeries | undefined;
  let start = out.size;
  out.text(frame.head);
  for await (const piece of answer.series) {
    if (open !== undefined && isSame(open, piece)) out.ascii(',');
    else {
      out.ascii(open === undefined ? `${separator}"series":[` : ']},');
      out.text(encoder.head(piece));
      open = piece;
    }
    encoder.rows(piece, 0, piece.rowCount);
    if (out.size - start < PIECE_SIZE_BYTES) continue;
    yield;
    start = out.size;
  }
  if (open !== undefined) out.ascii(']}]');
}

/** One document for each chunk. Source: tsdb-http, "Chunking". */
export async function* encodeChunks(
  answer: Answer,
  options: JsonOptions,
  frame: ResultFrame,
): AsyncGenerator<string, void, undefined> {
  const out = new TextBytes();
  const encoder = new SeriesEncoder(answer, options, out);
  const size =
    options.chunkSize === 0
      ? Number.POSITIVE_INFINITY
      : (options.chunkSize ?? Number.POSITIVE_INFINITY);
  /** Rows of the series that is being gathered. */
  let held: { series: AnswerSeries; text: string; count: number } | undefined;
  const document = (
    chunk: { series: AnswerSeries; text: string },
    goesOn: 'series' | 'result' | 'end',
  ): string => {
    const partial = goesOn === 'series' ? ',"partial":true' : '';
    const more = goesOn === 'end' ? '' : ',"partial":true';
    const lead = frame.head === '' ? '' : `${frame.head},`;
    return `{"results":[{${lead}"series":[${encoder.head(chunk.series)}${chunk.text}]${partial}}]${more}}]}\n`;
  };
  let isEmpty = true;
  for await (const piece of answer.series) {
    isEmpty = false;
    if (held !== undefined && !isSame(held.series, piece)) {
      yield document(held, 'result');
      held = undefined;
    }
    for (let from = 0; from < piece.rowCount; ) {
      if (held !== undefined && held.count === size) {
        yield document(held, 'series');
        held = undefined;
      }
      held ??= { series: piece, text: '', count: 0 };
      const to = Math.min(piece.rowCount, from + size - held.count);
      encoder.rows(piece, from, to);
      held.text += (held.count === 0 ? '' : ',') + out.take().toString();
      held.count += to - from;
      from = to;
    }
  }
  if (held !== undefined) yield document(held, 'end');
  if (isEmpty) yield `{"results":[{${frame.head}}]}\n`;
}

export function isSame(a: AnswerSeries, b: AnswerSeries): boolean {
  return a.name === b.name && a.tags.every((tag, i) => tag === b.tags[i]);
}

const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

class SeriesEncoder {
  readonly #answer: Answer;
  readonly #out: TextBytes;
  readonly #writers: readonly ColumnWriter[];
  readonly #columns: string;
  readonly #tagKeys: readonly string[];

  constructor(answer: Answer, { epochNs, infinities = 'refused' }: JsonOptions, out: TextBytes) {
    this.#answer = answer;
    this.#out = out;
    this.#writers = answer.columns.map((column) =>
      columnWriter(column, { epochNs, zone: answer.zone, infinities }, out),
    );
    this.#columns = JSON.stringify(answer.columns.map(({ name }) => name));
    this.#tagKeys = answer.tagNames.map((name) => JSON.stringify(name));
  }

  head({ name, tags }: AnswerSeries): string {
    const nameText = name === '' ? '' : `"name":${JSON.stringify(name)},`;
    const tagText =
      this.#answer.tagNames.length === 0
        ? ''
        : `"tags":{${this.#tagKeys.map((key, i) => `${key}:${JSON.stringify(tags[i] ?? '')}`).join(',')}},`;
    return `{${nameText}${tagText}"columns":${this.#columns},"values":[`;
  }

  /** Rows without the brackets around them; there is at least one. */
  rows(piece: AnswerSeries, from: number, to: number): void {
    const out = this.#out;
    const writers = this.#writers;
    for (let column = 0; column < writers.length; column++)
      (writers[column] as ColumnWriter).take(piece.columns[column] ?? []);
    for (let row = from; row < to; row++) {
      if (row > from) out.byte(COMMA);
      out.byte(OPEN_BRACKET);
      for (let column = 0; column < writers.length; column++) {
        if (column > 0) out.byte(COMMA);
        (writers[column] as ColumnWriter).put(row);
      }
      out.byte(CLOSE_BRACKET);
    }
  }
}
