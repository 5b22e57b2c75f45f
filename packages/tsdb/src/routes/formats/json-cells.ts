import type { SeriesOfRows } from '../../model/columns/cached-texts.js';
import { DictionaryVector } from '../../model/columns/dictionary-vector.js';
import type { ColumnVector, ResultChunk } from '../../model/columns/result.js';
import type { SqlType } from '../../model/sql-type.js';
import { jsonText, type TextStyle } from './cell-text.js';
import { floatText, type WholeFloats } from './number-text.js';
import { Piece, type TextBytes, type WholeColumn } from './text-bytes.js';
import { TimeWriter } from './time-text.js';

/** Writes the cells of a row. */
export type CellWriter = (row: number) => void;

export interface JsonColumn {
  readonly type: SqlType;
  readonly style: TextStyle;
  /** Before each value. */
  readonly lead: Piece;
  /** In place of lead and value where the value is NULL. */
  readonly ofNull: Piece;
}

const TWO_32 = 2 ** 32;
/** Whole doubles below it have the digits of an integer. */
const LEAST_EXPONENT = 1e15;
/** Digits of a fraction that are looked for first: most measured values have few. */
const SCALE_DIGITS = 4;
const SCALE = 10 ** SCALE_DIGITS;
const LARGEST_SCALED = 1e9;
const NULL = new Piece('null');
const POINT_ZERO = new Piece('.0');

/** Texts of dictionary columns that go together, by code, and the dictionaries that they were made of. */
interface Joined {
  readonly of: readonly DictionaryVector[];
  /** `null`: the code came once so far; `undefined`: it did not come. */
  readonly pieces: (Piece | null | undefined)[];
}

/** Writes columns side by side, chunk by chunk; keeps its memory of texts. */
export class JsonCells {
  readonly #columns: readonly JsonColumn[];
  readonly #out: TextBytes;
  readonly #writers: readonly JsonColumnWriter[];
  /** By the first column that goes in. */
  readonly #joined = new Map<number, Joined>();

  constructor(columns: readonly JsonColumn[], out: TextBytes) {
    this.#columns = columns;
    this.#out = out;
    this.#writers = columns.map((column) => new JsonColumnWriter(column, out));
  }

  /** To be called one after the other for each row. Columns of one kind that stand together are written as one. */
  of({ columns: vectors, series }: ResultChunk): readonly CellWriter[] {
    const out = this.#out;
    const writers: CellWriter[] = [];
    for (let at = 0; at < vectors.length; ) {
      const kept = series && this.#keptFrom(vectors, at, series);
      if (kept !== undefined) {
        writers.push(kept.write);
        at += kept.columnCount;
        continue;
      }
      const dictionaries = dictionariesFrom(vectors, at);
      const wholes = dictionaries.length > 0 ? [] : this.#wholesFrom(vectors, at);
      if (dictionaries.length > 0) writers.push(this.#dictionaryWriter(at, dictionaries));
      else if (wholes.length > 0) writers.push((row) => out.wholes(wholes, row));
      else writers.push((this.#writers[at] as JsonColumnWriter).of(vectors[at] as ColumnVector)); // below the length
      at += Math.max(1, dictionaries.length, wholes.length);
    }
    return writers;
  }

  /** Consecutive columns of integers that doubles stand for. */
  #wholesFrom(vectors: readonly ColumnVector[], from: number): readonly WholeColumn[] {
    const run: WholeColumn[] = [];
    for (let at = from; at < vectors.length; at++) {
      const { type, lead, ofNull } = this.#columns[at] as JsonColumn; // one a vector
      const { values, validity } = vectors[at] as ColumnVector;
      if (type.kind !== 'int' || !(values instanceof Float64Array)) break;
      run.push({ values, validity, lead, ofNull });
    }
    return run;
  }

  /** Tags that stand together, made once for each series. */
  #keptFrom(
    vectors: readonly ColumnVector[],
    from: number,
    series: SeriesOfRows,
  ): { readonly write: CellWriter; readonly columnCount: number } | undefined {
    const tags = tagsFrom(vectors, from);
    if (tags.length === 0) return undefined;
    const columns = this.#columns.slice(from, from + tags.length);
    const write = keptWriter(
      { tags, columns, series, putTexts: (row) => this.#putTags(from, tags, row) },
      this.#out,
    );
    return write && { write, columnCount: tags.length };
  }

  #putTags(from: number, tags: readonly DictionaryVector[], row: number): void {
    for (let i = 0; i < tags.length; i++) {
      const { codes, texts } = tags[i] as DictionaryVector; // below the length
      const { lead, ofNull } = this.#columns[from + i] as JsonColumn; // one a vector
      putTag(texts[codes[row] as number], { lead, ofNull }, this.#out);
    }
  }

  #dictionaryWriter(at: number, group: readonly DictionaryVector[]): CellWriter {
    let joined = this.#joined.get(at);
    const isSame =
      joined?.of.length === group.length &&
      joined.of.every((one, i) => one.texts === group[i]?.texts);
    if (joined === undefined || !isSame) {
      joined = { of: group, pieces: new Array(group[0]?.texts.length ?? 0) };
      this.#joined.set(at, joined);
    }
    const { pieces } = joined;
    const [{ codes }] = group as [DictionaryVector];
    const out = this.#out;
    return (row) => {
      const code = codes[row] as number;
      const piece = pieces[code];
      if (piece) out.put(piece);
      else if (piece === undefined) {
        // A text that comes once is not worth to be kept.
        pieces[code] = null;
        this.#putTexts(at, group, code);
      } else {
        const made = this.#textOf(at, group, code);
        pieces[code] = made;
        out.put(made);
      }
    };
  }

  #putTexts(at: number, group: readonly DictionaryVector[], code: number): void {
    for (let i = 0; i < group.length; i++) {
      const { lead, ofNull } = this.#columns[at + i] as JsonColumn; // one a vector
      putTag(group[i]?.texts[code], { lead, ofNull }, this.#out);
    }
  }

  #textOf(at: number, group: readonly DictionaryVector[], code: number): Piece {
    const cells = group.map(({ texts }, i) => {
      const { lead, ofNull } = this.#columns[at + i] as JsonColumn; // one a vector
      const text = texts[code];
      return text === undefined ? ofNull.text : lead.text + JSON.stringify(text);
    });
    return new Piece(cells.join(''));
  }
}

/** Consecutive dictionary columns, whatever their codes are. */
export function tagsFrom(
  vectors: readonly (ColumnVector | undefined)[],
  from: number,
): readonly DictionaryVector[] {
  const tags: DictionaryVector[] = [];
  for (let at = from; at < vectors.length; at++) {
    const vector = vectors[at];
    if (!(vector instanceof DictionaryVector)) break;
    tags.push(vector);
  }
  return tags;
}

/** Writes what stands between cells, and the texts of tags where they are not kept. */
type TagFrame = Pick<JsonColumn, 'lead' | 'ofNull'>;

/** The bytes of tags in one form, which are made by `putTexts` once for each series. `undefined`: they are not to be kept. */
export function keptWriter(
  options: {
    readonly tags: readonly DictionaryVector[];
    readonly columns: readonly TagFrame[];
    readonly series: SeriesOfRows;
    readonly putTexts: CellWriter;
  },
  out: TextBytes,
): CellWriter | undefined {
  const { tags, columns, series, putTexts } = options;
  const form = JSON.stringify(columns.map(({ lead, ofNull }) => [lead.text, ofNull.text]));
  const { numbers } = series;
  const kept = series.kept.of(
    tags.map(({ texts }) => texts),
    form,
  );
  if (kept === undefined) return undefined;
  return (row) => {
    const number = numbers[row] as number;
    const place = kept.placeOf(number);
    if (place !== 0) {
      out.kept(kept.words, place);
      return;
    }
    const start = out.size;
    putTexts(row);
    kept.keep(number, out.since(start));
  };
}

function putTag(text: string | undefined, { lead, ofNull }: TagFrame, out: TextBytes): void {
  out.put(text === undefined ? ofNull : lead);
  if (text !== undefined) out.jsonText(text);
}

/** Consecutive dictionary columns of the same codes: the tags of a series. */
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

class JsonColumnWriter {
  readonly #column: JsonColumn;
  readonly #out: TextBytes;
  readonly #writerOf: (values: ArrayLike<unknown>) => CellWriter;

  constructor(column: JsonColumn, out: TextBytes) {
    this.#column = column;
    this.#out = out;
    this.#writerOf = valueWriter(column, out);
  }

  of(vector: ColumnVector): CellWriter {
    const { lead, ofNull } = this.#column;
    const out = this.#out;
    const { values, validity } = vector;
    const put = this.#writerOf(values);
    const mayHoldNull = !ArrayBuffer.isView(values);
    if (validity === undefined && !mayHoldNull) {
      return (row) => {
        out.put(lead);
        put(row);
      };
    }
    return (row) => {
      const isNull =
        (validity !== undefined && ((validity[row >> 3] as number) & (1 << (row & 7))) === 0) ||
        (mayHoldNull && values[row] === null);
      if (isNull) out.put(ofNull);
      else {
        out.put(lead);
        put(row);
      }
    };
  }
}

function valueWriter(
  { type, style }: JsonColumn,
  out: TextBytes,
): (values: ArrayLike<unknown>) => CellWriter {
  const text = jsonText(type, style);
  const other = (values: ArrayLike<unknown>): CellWriter => {
    return (row) => out.text(text(values[row]));
  };
  switch (type.kind) {
    case 'int':
      return (values) => wholeWriter(values, out) ?? other(values);
    case 'float':
      return (values) =>
        values instanceof Float64Array
          ? floatWriter(values, out, style.wholeFloats)
          : other(values);
    case 'timestamp':
      return type.zone === undefined ? timeWriter(style, out) : other;
    case 'utf8':
    case 'tag':
      return (values) => (row) => out.jsonText(values[row] as string); // texts are strings
    default:
      return other;
  }
}

/** Numbers of typed arrays; `undefined`: they stand in none. */
function wholeWriter(values: ArrayLike<unknown>, out: TextBytes): CellWriter | undefined {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
    const isSigned = values instanceof BigInt64Array;
    return (row) => {
      const low = (halves[row * 2] as number) >>> 0;
      const high = halves[row * 2 + 1] as number;
      const value = (isSigned ? high : high >>> 0) * TWO_32 + low;
      if (Number.isSafeInteger(value)) out.whole(value);
      else out.ascii(String(values[row]));
    };
  }
  if (!ArrayBuffer.isView(values)) return undefined;
  const numbers = values as unknown as ArrayLike<number>; // all others are typed arrays of numbers
  return (row) => out.whole(numbers[row] as number);
}

function floatWriter(values: Float64Array, out: TextBytes, wholeFloats: WholeFloats): CellWriter {
  return (row) => {
    const value = values[row] as number;
    if (Number.isFinite(value)) putFloat(value, out, wholeFloats);
    else out.put(NULL);
  };
}

/** A finite number in its shortest form. */
export function putFloat(value: number, out: TextBytes, wholeFloats: WholeFloats): void {
  if (Math.floor(value) === value && Math.abs(value) < LEAST_EXPONENT && !Object.is(value, -0)) {
    out.whole(value);
    if (wholeFloats === 'with_fraction') out.put(POINT_ZERO);
    return;
  }
  // Of the decimals of up to 15 digits no two are the same double: when one is this, it is the shortest.
  const scaled = Math.round(value * SCALE);
  const isScaled = scaled !== 0 && scaled / SCALE === value && Math.abs(value) < LARGEST_SCALED;
  if (isScaled) out.decimal(scaled, SCALE_DIGITS);
  else out.ascii(floatText(value, wholeFloats));
}

/** Rows that follow each other often have the same time. */
function timeWriter(style: TextStyle, out: TextBytes): (values: ArrayLike<unknown>) => CellWriter {
  const writer = new TimeWriter(style.timeSuffix, '"');
  return (values) => {
    const times =
      values instanceof BigInt64Array ? values : BigInt64Array.from(values as ArrayLike<bigint>);
    const halves = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
    return (row) => writer.put(halves, row, out);
  };
}
