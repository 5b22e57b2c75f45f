import { Memo } from '@plinth/kernel';
import type { AnswerColumn } from '../../../domain/influxql/answer.js';
import type { Value } from '../../../domain/influxql/plan/data-type.js';
import { floorDiv } from '../../../model/calendar.js';
import {
  DictionaryTexts,
  type DictionaryVector,
} from '../../../model/columns/dictionary-vector.js';
import { jsonText, SERIES_STYLE } from '../../formats/cell-text.js';
import { putFloat } from '../../formats/json-cells.js';
import { Piece, type TextBytes } from '../../formats/text-bytes.js';
import { TimeParts, TimeWriter } from '../../formats/time-text.js';

/** JSON has no infinity: at `/query` the real server answers this in place of the whole. */
export class UnsupportedValue extends Error {
  override readonly name = 'UnsupportedValue';
  constructor(value: number) {
    super(`json: unsupported value: ${value > 0 ? '+' : '-'}Inf`);
  }
}

/** What stands for an infinite number: `null`, or `UnsupportedValue` in place of the answer. */
export type Infinities = 'null' | 'refused';

/** Writes the cells of one column, in JSON. There are as many pieces as series: a piece makes nothing anew. */
export interface ColumnWriter {
  /** The values that the next cells are of. */
  take(values: ArrayLike<Value>): void;
  put(row: number): void;
}

export interface WriterOptions {
  readonly epochNs: bigint | undefined;
  readonly zone: string | undefined;
  readonly infinities: Infinities;
}

const NULL = new Piece('null');
const NS_PER_SECOND = 1_000_000_000;
/** Different values of a tag that are kept as bytes. */
const MAX_PIECES = 16_384;

export function columnWriter(
  { type }: AnswerColumn,
  options: WriterOptions,
  out: TextBytes,
): ColumnWriter {
  if (type === 'tag') return new TagWriter(out);
  if (type !== 'time') return new ValueWriter(options.infinities, out);
  const { epochNs, zone } = options;
  if (epochNs !== undefined) return new EpochWriter(epochNs, out);
  return zone === undefined || zone === 'UTC'
    ? new TimeTextWriter(out)
    : new ZonedTimeWriter(zone, out);
}

class ValueWriter implements ColumnWriter {
  readonly #infinities: Infinities;
  readonly #out: TextBytes;
  #values: ArrayLike<Value> = [];

  constructor(infinities: Infinities, out: TextBytes) {
    this.#infinities = infinities;
    this.#out = out;
  }

  take(values: ArrayLike<Value>): void {
    this.#values = values;
  }

  put(row: number): void {
    const value = this.#values[row];
    if (typeof value === 'number') putNumber(value, this.#infinities, this.#out);
    else if (value === null || value === undefined) this.#out.put(NULL);
    else if (typeof value === 'string') this.#out.jsonText(value);
    else this.#out.ascii(String(value));
  }
}

function putNumber(value: number, infinities: Infinities, out: TextBytes): void {
  if (out.shortWhole(value)) return;
  if (Number.isFinite(value)) putFloat(value, out, 'bare');
  else if (Number.isNaN(value) || infinities === 'null') out.put(NULL);
  else throw new UnsupportedValue(value);
}

/** Tags have few values, each of which is turned into bytes once. */
class TagWriter implements ColumnWriter {
  readonly #out: TextBytes;
  readonly #pieces = new Memo<NonNullable<Value>, Piece>({ maxCount: MAX_PIECES });
  #values: ArrayLike<Value> = [];
  /** Set while the values come from a dictionary, which all pieces of an answer have in common. */
  #codes: Int32Array | undefined;
  #texts: DictionaryVector['texts'] | undefined;
  /** `null`: the code came once so far. */
  #pieceOfCode: (Piece | null | undefined)[] = [];

  constructor(out: TextBytes) {
    this.#out = out;
  }

  take(values: ArrayLike<Value>): void {
    this.#values = values;
    this.#codes = values instanceof DictionaryTexts ? values.of.codes : undefined;
    if (!(values instanceof DictionaryTexts) || this.#texts === values.of.texts) return;
    this.#texts = values.of.texts;
    this.#pieceOfCode = new Array(this.#texts.length);
  }

  put(row: number): void {
    const code = this.#codes?.[row];
    if (code === undefined) {
      this.#out.put(this.#pieceOf(this.#values[row]));
      return;
    }
    const piece = this.#pieceOfCode[code];
    if (piece) this.#out.put(piece);
    else if (piece === undefined) {
      // A text that comes once is not worth to be kept.
      this.#pieceOfCode[code] = null;
      const text = this.#texts?.[code];
      if (text === undefined) this.#out.put(NULL);
      else this.#out.jsonText(text);
    } else {
      const made = this.#pieceOf(this.#texts?.[code]); // series have values in common
      this.#pieceOfCode[code] = made;
      this.#out.put(made);
    }
  }

  #pieceOf(value: Value | undefined): Piece {
    if (value === null || value === undefined) return NULL;
    return this.#pieces.of(value, pieceOf);
  }
}

const pieceOf = (value: NonNullable<Value>): Piece => new Piece(JSON.stringify(value));

class ZonedTimeWriter implements ColumnWriter {
  readonly #out: TextBytes;
  readonly #text: (value: unknown) => string;
  #values: ArrayLike<Value> = [];

  constructor(zone: string, out: TextBytes) {
    this.#out = out;
    this.#text = jsonText({ kind: 'timestamp', unit: 'ns', zone }, SERIES_STYLE);
  }

  take(values: ArrayLike<Value>): void {
    this.#values = values;
  }

  put(row: number): void {
    this.#out.text(this.#text(this.#values[row]));
  }
}

class TimeTextWriter implements ColumnWriter {
  readonly #out: TextBytes;
  readonly #writer = new TimeWriter('Z', '"');
  #halves = new Int32Array(0);

  constructor(out: TextBytes) {
    this.#out = out;
  }

  take(values: ArrayLike<Value>): void {
    this.#halves = halvesOf(values);
  }

  put(row: number): void {
    this.#writer.put(this.#halves, row, this.#out);
  }
}

/** Whole numbers of a unit of time. */
class EpochWriter implements ColumnWriter {
  readonly #out: TextBytes;
  readonly #epochNs: bigint;
  readonly #unitNs: number;
  readonly #unitSec: number;
  readonly #perSecond: number;
  readonly #digitCount: number;
  readonly #parts = new TimeParts();
  #values: ArrayLike<Value> = [];
  #halves = new Int32Array(0);

  constructor(epochNs: bigint, out: TextBytes) {
    this.#out = out;
    this.#epochNs = epochNs;
    this.#unitNs = Number(epochNs);
    this.#unitSec = this.#unitNs / NS_PER_SECOND;
    this.#perSecond = Math.floor(NS_PER_SECOND / this.#unitNs);
    this.#digitCount = String(this.#perSecond).length - 1;
  }

  take(values: ArrayLike<Value>): void {
    this.#values = values;
    this.#halves = halvesOf(values);
  }

  put(row: number): void {
    const out = this.#out;
    this.#parts.split(this.#halves, row);
    const { second, nanos } = this.#parts;
    if (this.#perSecond <= 1) out.whole(Math.floor(second / this.#unitSec));
    else if (second > 0) {
      out.whole(second);
      out.padded(nanos / this.#unitNs, this.#digitCount);
    } else if (second === 0) out.whole(Math.floor(nanos / this.#unitNs));
    else out.ascii(String(floorDiv(this.#values[row] as bigint, this.#epochNs))); // the column of times
  }
}

/** Times as pairs of 32-bit words. */
function halvesOf(values: ArrayLike<Value>): Int32Array<ArrayBuffer> {
  const times =
    values instanceof BigInt64Array ? values : BigInt64Array.from(values as ArrayLike<bigint>);
  // Times are in memory of their own.
  return new Int32Array(times.buffer as ArrayBuffer, times.byteOffset, times.length * 2);
}
