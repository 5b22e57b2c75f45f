import type { Encoder, ExtData } from '@msgpack/msgpack';
import type { Value } from '@plinth/tsdb-influxql/plan/data-type.js';
import { type ResultSeries, type StatementResult, seriesOf } from '@plinth/tsdb-influxql/result.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { floorDiv, floorMod, NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';
import { isSame } from './encode-json.js';

/**
 * Maximum number of values in a result that is not chunked. It is buffered, because the number of its series precedes
 * them.
 */
const MAX_VALUES = 20_000_000;
/** The time extension of the 1.x server: seconds in 64 bits, nanoseconds in 32 bits. */
const TIME_EXTENSION = 5;

export interface MsgpackOptions {
  readonly epochNs: bigint | undefined;
  /**
   * Maximum rows per document of a chunked response; `undefined` writes all series in one document.
   */
  readonly documentRows: number | undefined;
}

interface PendingSeries {
  readonly of: ResultSeries;
  readonly rows: Buffer[];
  rowCount: number;
}

/**
 * Encodes results like the 1.x server: the members of the JSON form, floats as doubles, timestamps as an extension.
 * Output is written in pieces, so that no result blocks the main thread.
 */
export class MsgpackWriter {
  /** Encodes integers in their shortest form. */
  readonly #encoder: Encoder;
  /** Encodes all numbers as doubles. */
  readonly #floats: Encoder;
  readonly #extension: (data: Uint8Array) => ExtData;

  /** Loads the library when the first client requests the format. */
  static async load(): Promise<MsgpackWriter> {
    return new MsgpackWriter(await import('@msgpack/msgpack'));
  }

  /** Use `load`. */
  private constructor(library: typeof import('@msgpack/msgpack')) {
    this.#encoder = new library.Encoder({ useBigInt64: true });
    this.#floats = new library.Encoder({ forceIntegerToFloat: true });
    this.#extension = (data) => new library.ExtData(TIME_EXTENSION, data);
  }

  /** Writes `{"results":[`. The caller must append `count` results. */
  open(count: number): Buffer {
    return Buffer.concat([mapOf(1), this.#value('results'), arrayOf(count)]);
  }

  failedResult(index: number, message: string): Buffer {
    return Buffer.concat([
      mapOf(2),
      ...this.#member('statement_id', index),
      ...this.#member('error', message),
    ]);
  }

  /** Encodes the result of one statement. Throws `query_too_large`. */
  async *result(
    result: StatementResult,
    index: number,
    options: MsgpackOptions,
  ): AsyncGenerator<Buffer> {
    const all: PendingSeries[] = [];
    let valueCount = 0;
    for await (const piece of seriesOf(result)) {
      valueCount += piece.rowCount * piece.columns.length;
      if (valueCount > MAX_VALUES) throw tsdbError('query_too_large', MAX_VALUES);
      let last = all.at(-1);
      if (last === undefined || !isSame(last.of, piece)) {
        last = { of: piece, rows: [], rowCount: 0 };
        all.push(last);
      }
      this.#addRows(last, result, piece, { ...options, from: 0, to: piece.rowCount });
    }
    yield this.#resultHead(index, all.length, false);
    for (const pending of all) yield* this.#series(result, pending, false);
  }

  /** Encodes the documents of a chunked response, with the same boundaries as in JSON. */
  async *documents(
    result: StatementResult,
    index: number,
    options: MsgpackOptions,
  ): AsyncGenerator<Buffer> {
    const size = options.documentRows || Number.POSITIVE_INFINITY;
    let pending: PendingSeries | undefined;
    const document = (goesOn: 'series' | 'result' | 'end'): Buffer =>
      Buffer.concat([
        this.open(1),
        this.#resultHead(index, pending === undefined ? 0 : 1, goesOn !== 'end'),
        ...(pending === undefined ? [] : this.#series(result, pending, goesOn === 'series')),
        ...(goesOn === 'end' ? [] : this.#member('partial', true)),
      ]);
    for await (const piece of seriesOf(result)) {
      if (pending !== undefined && !isSame(pending.of, piece)) {
        yield document('result');
        pending = undefined;
      }
      if (piece.rowCount === 0) pending ??= { of: piece, rows: [], rowCount: 0 };
      for (let from = 0; from < piece.rowCount; ) {
        if (pending !== undefined && pending.rowCount === size) {
          yield document('series');
          pending = undefined;
        }
        pending ??= { of: piece, rows: [], rowCount: 0 };
        const to = Math.min(piece.rowCount, from + size - pending.rowCount);
        this.#addRows(pending, result, piece, { ...options, from, to });
        from = to;
      }
    }
    yield document('end');
  }

  #resultHead(index: number, seriesCount: number, isPartial: boolean): Buffer {
    const memberCount = 1 + (seriesCount > 0 ? 1 : 0) + (isPartial ? 1 : 0);
    return Buffer.concat([
      mapOf(memberCount),
      ...this.#member('statement_id', index),
      ...(seriesCount > 0 ? [this.#value('series'), arrayOf(seriesCount)] : []),
    ]);
  }

  #series(result: StatementResult, { of, rows, rowCount }: PendingSeries, isPartial: boolean) {
    const { name, tags, heading = result } = of;
    const { tagNames } = heading;
    const memberCount = 2 + (name === '' ? 0 : 1) + (tagNames.length > 0 ? 1 : 0);
    return [
      mapOf(memberCount + (isPartial ? 1 : 0)),
      ...(name === '' ? [] : this.#member('name', name)),
      ...(tagNames.length === 0
        ? []
        : [
            this.#value('tags'),
            mapOf(tagNames.length),
            ...tagNames.flatMap((tag, i) => this.#member(tag, tags[i] ?? '')),
          ]),
      ...this.#member(
        'columns',
        heading.columns.map((column) => column.name),
      ),
      this.#value('values'),
      arrayOf(rowCount),
      ...rows,
      ...(isPartial ? this.#member('partial', true) : []),
    ];
  }

  #addRows(
    pending: PendingSeries,
    result: StatementResult,
    piece: ResultSeries,
    options: { readonly from: number; readonly to: number; readonly epochNs: bigint | undefined },
  ): void {
    const types = (piece.heading ?? result).columns.map(({ type }) => type);
    const rows: Buffer[] = [];
    for (let row = options.from; row < options.to; row++) {
      rows.push(arrayOf(piece.columns.length));
      for (let i = 0; i < piece.columns.length; i++) {
        const value = piece.columns[i]?.[row] ?? null;
        rows.push(
          types[i] === 'time' && typeof value === 'bigint'
            ? this.#time(value, options.epochNs)
            : this.#cell(value, types[i] === 'float'),
        );
      }
    }
    pending.rows.push(Buffer.concat(rows));
    pending.rowCount += options.to - options.from;
  }

  /** Integers may also arrive as numbers. */
  #cell(value: Value, isFloat: boolean): Buffer {
    if (typeof value === 'bigint') {
      return this.#value(BigInt.asIntN(54, value) === value ? Number(value) : value);
    }
    if (typeof value !== 'number' || !isFloat) return this.#value(value);
    return Number.isNaN(value) ? this.#value(null) : Buffer.from(this.#floats.encode(value));
  }

  #time(ns: bigint, epochNs: bigint | undefined): Buffer {
    if (epochNs !== undefined) return this.#cell(floorDiv(ns, epochNs), false);
    const data = new DataView(new ArrayBuffer(12));
    data.setBigInt64(0, floorDiv(ns, NS_PER_SECOND));
    data.setInt32(8, Number(floorMod(ns, NS_PER_SECOND)));
    return this.#value(this.#extension(new Uint8Array(data.buffer)));
  }

  #member(key: string, value: unknown): readonly Buffer[] {
    return [this.#value(key), this.#value(value)];
  }

  #value(value: unknown): Buffer {
    return Buffer.from(this.#encoder.encode(value));
  }
}

/** Starts a map of `count` members. */
const mapOf = (count: number): Buffer => headOf(count, { short: 0x80, two: 0xde, four: 0xdf });
/** Starts an array of `count` elements. */
const arrayOf = (count: number): Buffer => headOf(count, { short: 0x90, two: 0xdc, four: 0xdd });

function headOf(
  count: number,
  mark: { readonly short: number; readonly two: number; readonly four: number },
): Buffer {
  if (count < 16) return Buffer.from([mark.short | count]);
  const isShort = count < 65_536;
  const head = Buffer.alloc(isShort ? 3 : 5);
  head[0] = isShort ? mark.two : mark.four;
  if (isShort) head.writeUInt16BE(count, 1);
  else head.writeUInt32BE(count, 1);
  return head;
}
