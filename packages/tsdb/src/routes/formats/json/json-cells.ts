import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { SeriesOfRows } from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { isNested } from '@plinth/tsdb-model/sql-type.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { EncodedText, type TextBytes } from '../text-bytes.js';
import {
  type CellWriter,
  type JsonColumn,
  JsonColumnWriter,
  type SteppedWriter,
} from './json-values.js';

/** The source of the cells of some rows. */
type CellsOf = Pick<ResultChunk, 'columns' | 'series'>;

const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

/**
 * Writes rows as lists, `[1,"a"],[2,"b"]`. Each cell starts with a comma; the bracket replaces the
 * first comma.
 */
export function putLists(
  cells: readonly CellWriter[],
  { from, to }: { readonly from: number; readonly to: number },
  out: TextBytes,
): void {
  for (let row = from; row < to; row++) {
    if (row > from) out.byte(COMMA);
    const start = out.size;
    for (let i = 0; i < cells.length; i++) (cells[i] as CellWriter)(row); // i is below the length
    if (out.size === start) out.byte(OPEN_BRACKET);
    else out.setByte(start, OPEN_BRACKET);
    out.byte(CLOSE_BRACKET);
    if (row === from) out.expect(to - from - 1, start);
  }
}

/** Writes one row in brackets or braces. The bytes of earlier rows may have been taken. */
export function* putInSteps(
  cells: readonly SteppedWriter[],
  row: number,
  [open, close]: readonly [open: number, close: number],
  out: TextBytes,
): Steps<void> {
  const start = out.size;
  let isOpen = false;
  for (const write of cells) {
    const steps = write(row);
    if (!isOpen && out.size > start) {
      out.setByte(start, open);
      isOpen = true;
    }
    if (steps !== undefined) yield* steps;
  }
  if (!isOpen) out.byte(open);
  out.byte(close);
}

/** Writes rows as lists, in steps. */
export function* putListsInSteps(
  cells: readonly SteppedWriter[],
  rowCount: number,
  out: TextBytes,
): Steps<void> {
  for (let row = 0; row < rowCount; row++) {
    if (row > 0) out.byte(COMMA);
    yield* putInSteps(cells, row, [OPEN_BRACKET, CLOSE_BRACKET], out);
    yield;
  }
}

/**
 * Encoded tags of adjacent dictionary columns by code, and the dictionaries of which they were
 * made.
 */
interface Joined {
  readonly of: readonly DictionaryVector[];
  /** `null` if the code occurred once, `undefined` if it did not occur. */
  readonly encoded: (EncodedText | null | undefined)[];
}

/** Writes the columns of rows, chunk by chunk, and caches the encoded tags. */
export class JsonCells {
  readonly #columns: readonly JsonColumn[];
  readonly #out: TextBytes;
  readonly #writers: readonly JsonColumnWriter[];
  /** By index of the first joined column. */
  readonly #joined = new Map<number, Joined>();
  /** If true, cells may be large and must be written in steps. */
  readonly isNested: boolean;

  constructor(columns: readonly JsonColumn[], out: TextBytes) {
    this.#columns = columns;
    this.#out = out;
    this.isNested = columns.some(({ type }) => isNested(type));
    this.#writers = columns.map((column) => new JsonColumnWriter(column, out));
  }

  /** Returns the writers to call in order for each row. Adjacent tags are written as one cell. */
  of({ columns: vectors, series }: CellsOf): readonly CellWriter[] {
    const writers: CellWriter[] = [];
    for (let at = 0; at < vectors.length; ) {
      const encoded = series && this.#encodedTagsFrom(vectors, at, series);
      if (encoded !== undefined) {
        writers.push(encoded.write);
        at += encoded.columnCount;
        continue;
      }
      const dictionaries = dictionariesFrom(vectors, at);
      if (dictionaries.length > 0) writers.push(this.#dictionaryWriter(at, dictionaries));
      else writers.push((this.#writers[at] as JsonColumnWriter).of(vectors[at] as ColumnVector)); // `at` is below the length
      at += Math.max(1, dictionaries.length);
    }
    return writers;
  }

  inSteps({ columns: vectors }: CellsOf): readonly SteppedWriter[] {
    return this.#writers.map((writer, index) => writer.inSteps(vectors[index] as ColumnVector)); // one vector per column
  }

  /** Returns a writer of adjacent tags that are encoded once per series. */
  #encodedTagsFrom(
    vectors: readonly ColumnVector[],
    from: number,
    series: SeriesOfRows,
  ): { readonly write: CellWriter; readonly columnCount: number } | undefined {
    const tags = tagsFrom(vectors, from);
    if (tags.length === 0) return undefined;
    const columns = this.#columns.slice(from, from + tags.length);
    const write = encodedTagsWriter(
      { tags, columns, series, encode: (row) => this.#putTags(from, tags, row) },
      this.#out,
    );
    return write && { write, columnCount: tags.length };
  }

  #putTags(from: number, tags: readonly DictionaryVector[], row: number): void {
    for (let i = 0; i < tags.length; i++) {
      const { codes, texts } = tags[i] as DictionaryVector; // i is below the length
      const { textBefore, textOfNull } = this.#columns[from + i] as JsonColumn; // one vector per column
      putTag(texts[codes[row] as number], { textBefore, textOfNull }, this.#out);
    }
  }

  #dictionaryWriter(at: number, group: readonly DictionaryVector[]): CellWriter {
    let joined = this.#joined.get(at);
    const isSame =
      joined?.of.length === group.length &&
      joined.of.every((one, i) => one.texts === group[i]?.texts);
    if (joined === undefined || !isSame) {
      joined = { of: group, encoded: new Array(group[0]?.texts.length ?? 0) };
      this.#joined.set(at, joined);
    }
    const { encoded } = joined;
    const [{ codes }] = group as [DictionaryVector];
    const out = this.#out;
    return (row) => {
      const code = codes[row] as number;
      const piece = encoded[code];
      if (piece) out.put(piece);
      else if (piece === undefined) {
        // A value that occurs once is not worth caching.
        encoded[code] = null;
        this.#putTexts(at, group, code);
      } else {
        const made = this.#textOf(at, group, code);
        encoded[code] = made;
        out.put(made);
      }
    };
  }

  #putTexts(at: number, group: readonly DictionaryVector[], code: number): void {
    for (let i = 0; i < group.length; i++) {
      const { textBefore, textOfNull } = this.#columns[at + i] as JsonColumn; // one vector per column
      putTag(group[i]?.texts[code], { textBefore, textOfNull }, this.#out);
    }
  }

  #textOf(at: number, group: readonly DictionaryVector[], code: number): EncodedText {
    const cells = group.map(({ texts }, i) => {
      const { textBefore, textOfNull } = this.#columns[at + i] as JsonColumn; // one vector per column
      const text = texts[code];
      return text === undefined ? textOfNull.text : textBefore.text + JSON.stringify(text);
    });
    return new EncodedText(cells.join(''));
  }
}

/** Returns consecutive dictionary columns, regardless of their codes. */
function tagsFrom(vectors: readonly ColumnVector[], from: number): readonly DictionaryVector[] {
  const tags: DictionaryVector[] = [];
  for (let at = from; at < vectors.length; at++) {
    const vector = vectors[at];
    if (!(vector instanceof DictionaryVector)) break;
    tags.push(vector);
  }
  return tags;
}

/** The text between cells, used while tags are encoded. */
type TagFrame = Pick<JsonColumn, 'textBefore' | 'textOfNull'>;

/**
 * Returns a writer that calls `encode` once per series and reuses the bytes; `undefined` if the
 * cache is unavailable.
 */
function encodedTagsWriter(
  options: {
    readonly tags: readonly DictionaryVector[];
    readonly columns: readonly TagFrame[];
    readonly series: SeriesOfRows;
    readonly encode: CellWriter;
  },
  out: TextBytes,
): CellWriter | undefined {
  const { tags, columns, series, encode } = options;
  const separatorsKey = JSON.stringify(
    columns.map(({ textBefore, textOfNull }) => [textBefore.text, textOfNull.text]),
  );
  const { ordinals: numbers } = series;
  const encoded = series.encodedTags.of(
    tags.map(({ texts }) => texts),
    separatorsKey,
  );
  if (encoded === undefined) return undefined;
  return (row) => {
    const number = numbers[row] as number;
    const offset = encoded.offsetOf(number);
    if (offset !== 0) {
      out.putEncoded(encoded.words, offset);
      return;
    }
    const start = out.size;
    encode(row);
    encoded.store(number, out.since(start));
  };
}

function putTag(
  text: string | undefined,
  { textBefore, textOfNull }: TagFrame,
  out: TextBytes,
): void {
  out.put(text === undefined ? textOfNull : textBefore);
  if (text !== undefined) out.jsonText(text);
}

/** Returns consecutive dictionary columns with the same codes, which are the tags of a series. */
function dictionariesFrom(
  vectors: readonly ColumnVector[],
  from: number,
): readonly DictionaryVector[] {
  const group: DictionaryVector[] = [];
  for (let at = from; at < vectors.length; at++) {
    const vector = vectors[at];
    if (!(vector instanceof DictionaryVector)) break;
    if (group[0] !== undefined && group[0].codes !== vector.codes) break;
    group.push(vector);
  }
  return group;
}
