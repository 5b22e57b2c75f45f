import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { Value } from '../../plan/data-type.js';
import type { SeriesBlock, SeriesSpan } from '../series/series.js';
import { tagTexts, vectorValues } from '../series/vector-values.js';
import type { AggregateRequest } from './read-aggregates.js';

/** Approximate row count of a block that differs from its chunk. */
const BLOCK_ROWS = 8192;
/** Row number of an empty bucket, which has no row in the chunk. */
const NO_ROW = -1;

/** Aggregates of one table, each used unchanged as a field of the result. */
export interface PlainCalls extends AggregateRequest {
  /** For each field, the index of its call. */
  readonly fields: readonly number[];
  /** Whether empty buckets appear in the result, as NULL or as 0 for counts. */
  readonly isFilled: boolean;
  /** Maximum number of buckets per series; a series with more buckets is rejected. */
  readonly bucketLimit: number;
  /** Called with the number of rows of each series. */
  onSeries(rowCount: number): void;
}

/**
 * Returns whether every call has a value in every bucket that has rows. If so, the rows of a series
 * do not depend on its values.
 */
export function areComplete(chunks: readonly ResultChunk[], { calls, ...request }: PlainCalls) {
  const first = keyCountOf(request);
  return chunks.every(({ columns }) =>
    calls.every(({ name }, i) => {
      const { values, validity } = columns[first + i] as ColumnVector; // one vector per call
      return validity === undefined && (name !== 'count' || !(values as Float64Array).includes(0));
    }),
  );
}

const keyCountOf = ({
  groupTags,
  timeBuckets,
}: Pick<PlainCalls, 'groupTags' | 'timeBuckets'>): number =>
  groupTags.length + (timeBuckets === undefined ? 0 : 1);

/**
 * Creates result rows from the complete aggregates of a column query. Without empty buckets in between, the
 * rows use the columns of the aggregates directly.
 */
export function* callBlocks(
  chunks: readonly ResultChunk[],
  request: PlainCalls,
): Generator<SeriesBlock, void, undefined> {
  const { groupTags, timeBuckets, calls } = request;
  const series = new OpenSeries(request);
  const first = keyCountOf(request);
  for (const { rowCount, columns } of chunks) {
    const tags = columns.slice(0, groupTags.length).map((vector) => textsOf(vector, rowCount));
    const starts =
      timeBuckets === undefined
        ? undefined
        : (columns[groupTags.length]?.values as BigInt64Array<ArrayBuffer>); // bucket starts of a column query
    const values = calls.map(({ type }, i) =>
      vectorValues(columns[first + i] as ColumnVector, rowCount, type),
    );
    const rows = new BlockRows(request, { values, starts, rowCount });
    for (let from = 0; from < rowCount; ) {
      let to = from + 1;
      while (to < rowCount && isSameGroup(tags, from, to)) to++;
      if (!series.isOf(tags, from)) {
        yield* series.end(rows);
        series.begin(
          tags.map((textOf) => textOf(from)),
          () => starts?.[from] ?? 0n,
        );
      }
      yield* series.take(from, to, rows);
      from = to;
    }
    yield* rows.taken();
  }
  const rest = new BlockRows(request, { values: [], starts: undefined, rowCount: 0 });
  yield* series.end(rest);
  yield* rest.taken();
}

type TextOf = (row: number) => string;

/** Returns an accessor for the values of a tag column; absent tags read as an empty string. */
function textsOf(vector: ColumnVector, rowCount: number): TextOf {
  if (vector instanceof DictionaryVector) {
    const { codes, texts } = vector;
    return (row) => texts[codes[row] as number] ?? '';
  }
  const texts = tagTexts(vector, rowCount);
  return (row) => texts[row] as string; // row is below the length
}

function isSameGroup(tags: readonly TextOf[], a: number, b: number): boolean {
  for (const textOf of tags) if (textOf(a) !== textOf(b)) return false;
  return true;
}

/** Tracks the next expected bucket of the series that is being filled. */
class OpenSeries {
  readonly #request: PlainCalls;
  readonly #everyNs: bigint;
  /** First bucket to fill; `undefined` means the first bucket with rows. */
  readonly #firstNs: bigint | undefined;
  /** Last bucket to fill. */
  readonly #lastNs: bigint;
  #tags: readonly string[] | undefined;
  #nextNs = 0n;
  #rowCount = 0;

  constructor(request: PlainCalls) {
    const { timeBuckets, minNs, maxNs, hasLowerBound } = request;
    this.#request = request;
    this.#everyNs = timeBuckets?.everyNs ?? 0n;
    this.#firstNs = hasLowerBound ? timeBuckets?.bucketOf(minNs).start : undefined;
    this.#lastNs = timeBuckets?.bucketOf(maxNs).start ?? 0n;
  }

  isOf(tags: readonly TextOf[], row: number): boolean {
    const open = this.#tags;
    if (open === undefined) return false;
    for (let i = 0; i < open.length; i++) if (tags[i]?.(row) !== open[i]) return false;
    return true;
  }

  /** @param timeNs returns the time of the first row. */
  begin(tags: readonly string[], timeNs: () => bigint): void {
    const { isFilled, bucketLimit } = this.#request;
    this.#tags = tags;
    this.#rowCount = 0;
    this.#nextNs = this.#firstNs ?? timeNs();
    if (!isFilled) return;
    const count = (this.#lastNs - this.#nextNs) / this.#everyNs + 1n;
    if (count > BigInt(bucketLimit))
      throw tsdbError('bucket_limit_exceeded', { count, limit: bucketLimit });
  }

  /** Adds consecutive rows of this series and fills the empty buckets between them. */
  *take(from: number, to: number, rows: BlockRows): Generator<SeriesBlock, void, undefined> {
    const { isFilled } = this.#request;
    if (!isFilled || this.#skipRun(from, to, rows)) {
      rows.addRun(this.#tags ?? [], from, to);
      this.#rowCount += to - from;
      return;
    }
    for (let row = from; row < to; row++) {
      const timeNs = rows.timeOf(row);
      if (this.#nextNs < timeNs) yield* this.#fillUpTo(timeNs, rows);
      rows.addRun(this.#tags ?? [], row, row + 1);
      this.#rowCount++;
      this.#nextNs = this.#nextAfter(timeNs);
    }
  }

  #nextAfter(startNs: bigint): bigint {
    return this.#request.timeBuckets?.nextStart(startNs) ?? startNs;
  }

  /**
   * Skips past a run of rows that starts at the next bucket and has no gaps. Returns false if the
   * run has gaps.
   */
  #skipRun(from: number, to: number, rows: BlockRows): boolean {
    const start = rows.timeOf(from);
    if (start !== this.#nextNs || start === MIN_TIME_NS) return false;
    const count = to - from;
    const endNs = start + (count === 1 ? this.#everyNs : BigInt(count) * this.#everyNs);
    if (count > 1 && rows.timeOf(to - 1) + this.#everyNs !== endNs) return false;
    this.#nextNs = endNs;
    return true;
  }

  /** Adds empty buckets up to an instant. */
  *#fillUpTo(timeNs: bigint, rows: BlockRows): Generator<SeriesBlock, void, undefined> {
    for (; this.#nextNs < timeNs; this.#nextNs = this.#nextAfter(this.#nextNs)) {
      rows.addEmpty(this.#tags ?? [], this.#nextNs);
      this.#rowCount++;
      if (rows.isFull) yield* rows.taken();
    }
  }

  *end(rows: BlockRows): Generator<SeriesBlock, void, undefined> {
    if (this.#tags === undefined) return;
    if (this.#request.isFilled && this.#nextNs <= this.#lastNs)
      yield* this.#fillUpTo(this.#lastNs + 1n, rows);
    this.#request.onSeries(this.#rowCount);
  }
}

/** Rows of a column query in the form in which they were read. */
interface ChunkRows {
  readonly values: readonly ArrayLike<Value>[];
  /** Without buckets all rows have the same time. */
  readonly starts: BigInt64Array<ArrayBuffer> | undefined;
  readonly rowCount: number;
}

/** Collects the rows of blocks from one chunk. */
class BlockRows {
  readonly #request: PlainCalls;
  readonly #chunk: ChunkRows;
  #spans: { readonly tags: readonly string[]; readonly from: number; to: number }[] = [];
  #count = 0;
  /** `undefined` while the collected rows are a prefix of the chunk. */
  #picked: { readonly rows: number[]; readonly times: bigint[] } | undefined;

  constructor(request: PlainCalls, chunk: ChunkRows) {
    this.#request = request;
    this.#chunk = chunk;
  }

  get isFull(): boolean {
    return this.#count >= BLOCK_ROWS;
  }

  timeOf(row: number): bigint {
    return this.#chunk.starts?.[row] ?? this.#request.baseNs;
  }

  addRun(tags: readonly string[], from: number, to: number): void {
    if (this.#picked !== undefined || from !== this.#count) {
      const { rows, times } = this.#pick();
      for (let row = from; row < to; row++) {
        rows.push(row);
        times.push(this.timeOf(row));
      }
    }
    this.#addToSpan(tags, to - from);
  }

  addEmpty(tags: readonly string[], timeNs: bigint): void {
    const { rows, times } = this.#pick();
    rows.push(NO_ROW);
    times.push(timeNs);
    this.#addToSpan(tags, 1);
  }

  /** Yields the block if it has rows, then starts the next one. */
  *taken(): Generator<SeriesBlock, void, undefined> {
    if (this.#count === 0) return;
    const { starts, rowCount, values } = this.#chunk;
    const isChunk = this.#picked === undefined && this.#count === rowCount;
    const { name } = this.#request.source;
    const spans: readonly SeriesSpan[] = this.#spans;
    if (isChunk) {
      const times = starts ?? new BigInt64Array(rowCount).fill(this.#request.baseNs);
      yield { name, spans, times, columns: this.#request.fields.map((call) => values[call] ?? []) };
    } else {
      const { rows, times } = this.#pick();
      const columns = this.#request.fields.map((call) => this.#columnOf(call, rows));
      yield { name, spans, times: BigInt64Array.from(times), columns };
    }
    this.#spans = [];
    this.#count = 0;
    // From here on, the rows do not form a prefix of the chunk.
    this.#picked = { rows: [], times: [] };
  }

  #columnOf(call: number, rows: readonly number[]): ArrayLike<Value> {
    const values = this.#chunk.values[call] ?? []; // empty if the last series is filled to its end
    const empty = this.#request.calls[call]?.name === 'count' ? 0 : null;
    return rows.map((row) => (row === NO_ROW ? empty : (values[row] as Value)));
  }

  /** Switches to explicit row numbers and times. */
  #pick(): { readonly rows: number[]; readonly times: bigint[] } {
    this.#picked ??= {
      rows: Array.from({ length: this.#count }, (_, row) => row),
      times: Array.from({ length: this.#count }, (_, row) => this.timeOf(row)),
    };
    return this.#picked;
  }

  #addToSpan(tags: readonly string[], count: number): void {
    const span = this.#spans.at(-1);
    const from = this.#count;
    this.#count += count;
    if (span?.tags === tags) span.to = this.#count;
    else this.#spans.push({ tags, from, to: this.#count });
  }
}
