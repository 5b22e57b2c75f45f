import type { AnswerBlock, AnswerColumn } from '../../../domain/influxql/answer.js';
import { type CellWriter, keptWriter, tagsFrom } from '../../formats/json-cells.js';
import { Piece, type TextBytes, type WholeColumn } from '../../formats/text-bytes.js';
import { type ColumnWriter, columnWriter, type WriterOptions } from './column-writer.js';

const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const LEAD = new Piece(',');
const OF_NULL = new Piece(',null');

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
  take(block: Block): void {
    const out = this.#out;
    const cells: CellWriter[] = [];
    for (let at = 0; at < this.#writers.length; ) {
      const kept = this.#keptTags(block, at);
      const wholes = kept === undefined ? this.#wholesFrom(block, at) : [];
      if (kept !== undefined) cells.push(kept.write);
      else if (wholes.length > 0) cells.push((row) => out.wholes(wholes, row));
      else cells.push(this.#cell(block, at));
      at += kept?.count ?? Math.max(1, wholes.length);
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

  #cell({ columns }: Block, at: number): CellWriter {
    const out = this.#out;
    const writer = this.#writers[at] as ColumnWriter; // below the length
    writer.take(columns[at] ?? []);
    return (row) => {
      out.byte(COMMA);
      writer.put(row);
    };
  }

  /** Tags that stand together, from the bytes that are kept of each series. */
  #keptTags(
    { vectors, series }: Block,
    at: number,
  ): { readonly write: CellWriter; readonly count: number } | undefined {
    if (vectors === undefined || series === undefined) return undefined;
    const tags = tagsFrom(vectors, at);
    if (tags.length === 0) return undefined;
    const out = this.#out;
    const putTexts = (row: number): void => {
      for (const { codes, texts } of tags) {
        const text = texts[codes[row] as number];
        out.put(text === undefined ? OF_NULL : LEAD);
        if (text !== undefined) out.jsonText(text);
      }
    };
    const columns = tags.map(() => ({ lead: LEAD, ofNull: OF_NULL }));
    const write = keptWriter({ tags, columns, series, putTexts }, out);
    return write && { write, count: tags.length };
  }

  /** Consecutive columns of integers that doubles stand for. */
  #wholesFrom({ columns, vectors }: Block, from: number): readonly WholeColumn[] {
    const run: WholeColumn[] = [];
    for (let at = from; at < this.#columns.length; at++) {
      const type = this.#columns[at]?.type;
      if (type !== 'integer' && type !== 'unsigned') break;
      const { values, validity } = vectors?.[at] ?? { values: columns[at], validity: undefined };
      if (!(values instanceof Float64Array)) break;
      run.push({ values, validity, lead: LEAD, ofNull: OF_NULL });
    }
    return run;
  }
}

type Block = Pick<AnswerBlock, 'columns' | 'vectors' | 'series'>;
