import type { AnswerBlock, AnswerColumn } from '../../domain/influxql/answer.js';
import type { Value } from '../../domain/influxql/plan/data-type.js';
import { DictionaryTexts, type DictionaryVector } from '../../model/dictionary-vector.js';
import type { SeriesOfRows } from '../../model/kept-texts.js';
import { type CellWriter, keptWriter } from '../formats/json-cells.js';
import { Piece, type TextBytes, type WholeColumn } from '../formats/text-bytes.js';
import { type ColumnWriter, columnWriter, type WriterOptions } from './column-writer.js';

const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const LEAD = new Piece(',');
const OF_NULL = new Piece(',null');
/** With a cell or two nothing is gained by taking them together. */
const LEAST_TAGS = 2;

/** Writes rows as lists of JSON: `[1700000000,"a",1],[...]`. Columns of one kind that stand together are written as one. */
export class RowWriter {
  readonly #columns: readonly AnswerColumn[];
  readonly #out: TextBytes;
  readonly #writers: readonly ColumnWriter[];
  /** Each writes some cells with commas before them, of which that before the first cell is written over. */
  #cells: readonly CellWriter[] = [];

  constructor(columns: readonly AnswerColumn[], options: WriterOptions, out: TextBytes) {
    this.#columns = columns;
    this.#out = out;
    this.#writers = columns.map((column) => columnWriter(column, options, out));
  }

  /** What the next rows are of. */
  take({ columns, series }: Pick<AnswerBlock, 'columns' | 'series'>): void {
    const out = this.#out;
    const cells: CellWriter[] = [];
    for (let at = 0; at < this.#writers.length; ) {
      const tags = series === undefined ? [] : tagsFrom(columns, at);
      const kept = tags.length < LEAST_TAGS ? undefined : this.#keptTags(at, tags, columns, series);
      const wholes = this.#wholesFrom(columns, at);
      if (kept !== undefined) cells.push(kept);
      else if (wholes.length > 0) cells.push((row) => out.wholes(wholes, row));
      else cells.push(this.#cell(at, columns));
      at += kept !== undefined ? tags.length : Math.max(1, wholes.length);
    }
    this.#cells = cells;
  }

  put(from: number, to: number): void {
    const out = this.#out;
    const cells = this.#cells;
    for (let row = from; row < to; row++) {
      if (row > from) out.byte(COMMA);
      const start = out.size;
      for (let i = 0; i < cells.length; i++) (cells[i] as CellWriter)(row); // below the length
      if (out.size === start) out.byte(OPEN_BRACKET);
      else out.setByte(start, OPEN_BRACKET);
      out.byte(CLOSE_BRACKET);
      if (row === from) out.expect(to - from - 1, start);
    }
  }

  #cell(at: number, columns: AnswerBlock['columns']): CellWriter {
    const out = this.#out;
    const writer = this.#writers[at] as ColumnWriter; // below the length
    writer.take(columns[at] ?? []);
    return (row) => {
      out.byte(COMMA);
      writer.put(row);
    };
  }

  #keptTags(
    at: number,
    tags: readonly DictionaryVector[],
    columns: AnswerBlock['columns'],
    series: SeriesOfRows | undefined,
  ): CellWriter | undefined {
    if (series === undefined) return undefined;
    const cells = tags.map((_, i) => this.#cell(at + i, columns));
    const putTexts = (row: number): void => {
      for (const put of cells) put(row);
    };
    const frames = tags.map(() => ({ lead: LEAD, ofNull: OF_NULL }));
    return keptWriter({ tags, columns: frames, series, putTexts }, this.#out);
  }

  /** Consecutive columns of integers that doubles stand for, and none of which is NULL. */
  #wholesFrom(columns: AnswerBlock['columns'], from: number): readonly WholeColumn[] {
    const run: WholeColumn[] = [];
    for (let at = from; at < this.#columns.length; at++) {
      const type = this.#columns[at]?.type;
      const values = columns[at];
      const isWhole = type === 'integer' || type === 'unsigned';
      if (!isWhole || !(values instanceof Float64Array)) break;
      run.push({ values, validity: undefined, lead: LEAD, ofNull: OF_NULL });
    }
    return run;
  }
}

function tagsFrom(columns: readonly ArrayLike<Value>[], from: number): readonly DictionaryVector[] {
  const tags: DictionaryVector[] = [];
  for (let at = from; at < columns.length; at++) {
    const values = columns[at];
    if (!(values instanceof DictionaryTexts)) break;
    tags.push(values.of);
  }
  return tags;
}
