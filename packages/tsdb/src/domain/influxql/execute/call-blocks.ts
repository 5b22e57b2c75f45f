import { BucketLimitExceeded } from '../../../errors.js';
import type { ColumnVector, ResultChunk } from '../../../model/result.js';
import type { Value } from '../plan/data-type.js';
import type { AggregateRequest } from './read-aggregates.js';
import type { SeriesBlock, SeriesSpan } from './series.js';
import { tagTexts, vectorValues } from './vector-values.js';

/** Rows of a block that has others than its chunk, about. */
const BLOCK_ROWS = 8192;
/** In place of its row in the chunk: a bucket without rows. */
const NO_ROW = -1;

/** Aggregates of one table, each of which is a field of the answer as it is. */
export interface PlainCalls extends AggregateRequest {
  /** The call of each field. */
  readonly fields: readonly number[];
  /** Buckets without rows are in the answer, too, as NULL (counts: 0). */
  readonly isFilled: boolean;
  /** A series of more buckets is refused. */
  readonly bucketLimit: number;
  /** Called with the number of rows of each series. */
  onSeries(rowCount: number): void;
}

/** Every call has a value in every bucket that has rows: what rows a series has does not depend on its values. */
export function areComplete(chunks: readonly ResultChunk[], { calls, ...request }: PlainCalls) {
  const first = keyCountOf(request);
  return chunks.every(({ columns }) =>
    calls.every(({ name }, i) => {
      const { values, validity } = columns[first + i] as ColumnVector; // one a call
      return validity === undefined && (name !== 'count' || !(values as Float64Array).includes(0));
    }),
  );
}

const keyCountOf = ({ groupTags, windows }: Pick<PlainCalls, 'groupTags' | 'windows'>): number =>
  groupTags.length + (windows === undefined ? 0 : 1);

/**
 * Rows of an answer out of complete aggregates of rows in memory. Where no bucket has to be put between them, they are the
 * columns of the aggregates themselves.
 */
export function* callBlocks(
  chunks: readonly ResultChunk[],
  request: PlainCalls,
): Generator<SeriesBlock, void, undefined> {
  const series = new OpenSeries(request);
  const first = keyCountOf(request);
  for (const { rowCount, columns } of chunks) {
    const tags = columns
      .slice(0, request.groupTags.length)
      .map((vector) => tagTexts(vector, rowCount));
    const starts = columns[request.groupTags.length]?.values as BigInt64Array; // when there are windows
    const values = request.calls.map(({ type }, i) =>
      vectorValues(columns[first + i] as ColumnVector, rowCount, type),
    );
    const rows = new BlockRows(request, values, rowCount);
    for (let row = 0; row < rowCount; row++) {
      const timeNs = request.windows === undefined ? request.baseNs : (starts[row] as bigint);
      if (!series.isOf(tags, row)) {
        yield* series.end(rows);
        series.begin(
          tags.map((texts) => texts[row] as string),
          timeNs,
        );
      }
      yield* series.fillUpTo(timeNs, rows);
      series.add(row, timeNs, rows);
    }
    yield* rows.taken();
  }
  const rest = new BlockRows(request, [], 0);
  yield* series.end(rest);
  yield* rest.taken();
}

/** The series that rows are being added to: which bucket comes next. */
class OpenSeries {
  readonly #request: PlainCalls;
  readonly #everyNs: bigint;
  /** The last bucket to be filled. */
  readonly #lastNs: bigint;
  #tags: readonly string[] | undefined;
  #nextNs = 0n;
  #rowCount = 0;

  constructor(request: PlainCalls) {
    const { windows, maxNs } = request;
    this.#request = request;
    this.#everyNs = windows?.everyNs ?? 0n;
    this.#lastNs = windows?.of(maxNs).start ?? 0n;
  }

  isOf(tags: readonly ArrayLike<string>[], row: number): boolean {
    return this.#tags?.every((tag, i) => tags[i]?.[row] === tag) === true;
  }

  begin(tags: readonly string[], timeNs: bigint): void {
    const { hasLowerBound, windows, minNs, isFilled, bucketLimit } = this.#request;
    this.#tags = tags;
    this.#rowCount = 0;
    this.#nextNs = hasLowerBound && windows !== undefined ? windows.of(minNs).start : timeNs;
    if (!isFilled) return;
    const count = (this.#lastNs - this.#nextNs) / this.#everyNs + 1n;
    if (count > BigInt(bucketLimit)) throw new BucketLimitExceeded({ count, limit: bucketLimit });
  }

  add(row: number, timeNs: bigint, rows: BlockRows): void {
    rows.add(this.#tags ?? [], row, timeNs);
    this.#rowCount++;
    this.#nextNs = timeNs + this.#everyNs;
  }

  /** Buckets without rows before an instant. */
  *fillUpTo(timeNs: bigint, rows: BlockRows): Generator<SeriesBlock, void, undefined> {
    if (!this.#request.isFilled) return;
    while (this.#nextNs < timeNs) {
      this.add(NO_ROW, this.#nextNs, rows);
      if (rows.isFull) yield* rows.taken();
    }
  }

  *end(rows: BlockRows): Generator<SeriesBlock, void, undefined> {
    if (this.#tags === undefined) return;
    yield* this.fillUpTo(this.#lastNs + 1n, rows);
    this.#request.onSeries(this.#rowCount);
  }
}

/** Rows of blocks, out of one chunk. */
class BlockRows {
  readonly #request: PlainCalls;
  readonly #values: readonly ArrayLike<Value>[];
  readonly #chunkRowCount: number;
  #spans: { readonly tags: readonly string[]; readonly from: number; to: number }[] = [];
  #rows: number[] = [];
  #times: bigint[] = [];

  constructor(request: PlainCalls, values: readonly ArrayLike<Value>[], chunkRowCount: number) {
    this.#request = request;
    this.#values = values;
    this.#chunkRowCount = chunkRowCount;
  }

  get isFull(): boolean {
    return this.#rows.length >= BLOCK_ROWS;
  }

  add(tags: readonly string[], row: number, timeNs: bigint): void {
    const span = this.#spans.at(-1);
    const at = this.#rows.length;
    if (span?.tags === tags) span.to = at + 1;
    else this.#spans.push({ tags, from: at, to: at + 1 });
    this.#rows.push(row);
    this.#times.push(timeNs);
  }

  /** The block, if there is a row in it; the next one begins. */
  *taken(): Generator<SeriesBlock, void, undefined> {
    const rows = this.#rows;
    if (rows.length === 0) return;
    const isChunk = rows.length === this.#chunkRowCount && rows.every((row, i) => row === i);
    const { fields, calls } = this.#request;
    const columns = fields.map((call): ArrayLike<Value> => {
      const values = this.#values[call] ?? []; // none when the last series is filled to its end
      if (isChunk) return values;
      const empty = calls[call]?.name === 'count' ? 0 : null;
      return rows.map((row) => (row === NO_ROW ? empty : (values[row] as Value)));
    });
    const spans: readonly SeriesSpan[] = this.#spans;
    yield { spans, times: BigInt64Array.from(this.#times), columns };
    this.#spans = [];
    this.#rows = [];
    this.#times = [];
  }
}
