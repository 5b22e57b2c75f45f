import type { Answer, AnswerSeries } from '../../domain/influxql/answer.js';
import { columnWriter, type Infinities } from './column-writer.js';

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

/** Texts are handed on when they are so long: each takes its way through several hands. */
const TEXT_LENGTH = 16 * 1024;

/** The series of one result, as the inside of `{...}`. Source: tsdb-http, "JSON response". */
export async function* encodeResult(
  answer: Answer,
  options: JsonOptions,
  frame: ResultFrame,
): AsyncGenerator<string, void, undefined> {
  const encoder = new SeriesEncoder(answer, options);
  let open: AnswerSeries | undefined;
  const separator = frame.head === '' ? '' : ',';
  let out = frame.head;
  for await (const piece of answer.series) {
    if (open !== undefined && isSame(open, piece)) out += ',';
    else {
      out += open === undefined ? `${separator}"series":[` : ']},';
      out += encoder.head(piece);
      open = piece;
    }
    out += encoder.rows(piece, 0, piece.rowCount);
    if (out.length < TEXT_LENGTH) continue;
    yield out;
    out = '';
  }
  yield open === undefined ? out : `${out}]}]`;
}

/** One document for each chunk. Source: tsdb-http, "Chunking". */
export async function* encodeChunks(
  answer: Answer,
  options: JsonOptions,
  frame: ResultFrame,
): AsyncGenerator<string, void, undefined> {
  const encoder = new SeriesEncoder(answer, options);
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
      held.text += (held.count === 0 ? '' : ',') + encoder.rows(piece, from, to);
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

class SeriesEncoder {
  readonly #answer: Answer;
  readonly #writers;
  readonly #columns: string;
  readonly #tagKeys: readonly string[];

  constructor(answer: Answer, { epochNs, infinities = 'refused' }: JsonOptions) {
    this.#answer = answer;
    this.#writers = answer.columns.map((column) =>
      columnWriter(column, { epochNs, zone: answer.zone, infinities }),
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
  rows(piece: AnswerSeries, from: number, to: number): string {
    const isWhole = from === 0 && to === piece.rowCount;
    const texts = this.#writers.map((write, i) => {
      const values = piece.columns[i] ?? [];
      return write(isWhole ? values : Array.prototype.slice.call(values, from, to), to - from);
    });
    let out = '';
    for (let row = 0; row < to - from; row++) {
      out += row === 0 ? '[' : ',[';
      for (let column = 0; column < texts.length; column++) {
        if (column > 0) out += ',';
        out += texts[column]?.[row];
      }
      out += ']';
    }
    return out;
  }
}
