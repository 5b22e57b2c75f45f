import type { DuckDBConnection } from '@duckdb/node-api';
import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type { ChunkDecoder } from './decode/decode-chunk.js';
import type { DuckDbCallLimiter } from './duckdb-call-limiter.js';
import type { OpenInstance } from './instance/open-instance.js';
import { endedNormally, throwFailure } from './stream-end.js';

/** Statements that run in order. Each receives the outcome of the previous one. */
export type Statements = Generator<Statement, void, StatementEnd | undefined>;

export interface Statement {
  readonly text: string;
  /** Columns of a statement whose rows are not part of the result; only `onChunk` receives them. */
  readonly columns?: readonly OutputColumn[];
  /**
   * While it returns true, rows are buffered before the first is yielded, so that DuckDB can
   * release them.
   */
  readonly mayBuffer?: (rowCount: number) => boolean;
  /**
   * Resolves when the statement has one of the slots for concurrent slices and may start. The returned function
   * releases the slot; it is called when DuckDB continues only as rows are read.
   */
  readonly acquireSlot?: (queryContext: QueryContext) => Promise<() => void>;
  /** Called with each chunk from DuckDB. */
  readonly onChunk?: (chunk: ResultChunk) => void;
}

export interface StatementEnd {
  readonly rowCount: number;
  /** Time spent waiting for DuckDB, and time in which DuckDB waited for the consumer. */
  readonly duckDbMs: number;
  readonly clientMs: number;
}

/** Passes chunks through and calls `onReadAhead` with the `count`-th chunk and at the end. */
export async function* notifyingReadAhead(
  chunks: AsyncIterable<ResultChunk>,
  count: number,
  onReadAhead: () => void,
): AsyncGenerator<ResultChunk, void, undefined> {
  let readCount = 0;
  try {
    for await (const chunk of chunks) {
      readCount++;
      if (readCount === count) onReadAhead();
      yield chunk;
    }
  } finally {
    onReadAhead();
  }
}

/** Options for reading chunks. */
interface Reading {
  readonly connection: DuckDBConnection;
  readonly calls: DuckDbCallLimiter;
  readonly decoder: ChunkDecoder;
  readonly decoderOf: OpenInstance['decoderOf'];
  /** Checked between two chunks; aborted when the rest is not needed. */
  readonly signal: AbortSignal;
  /** Owner of the query. Its signal is aborted when the query is canceled. */
  readonly queryContext: QueryContext;
}

/** Runs one statement or several. */
export async function* chunksOf({
  text,
  ...reading
}: Reading & { readonly text: string | Statements }): AsyncGenerator<ResultChunk, void, undefined> {
  if (typeof text === 'string') {
    yield* chunksOfOne({ text }, reading);
    return;
  }
  const { connection, calls, signal, queryContext } = reading;
  await calls.run(() => connection.run('BEGIN TRANSACTION READ ONLY'), queryContext);
  for (let next = text.next(); next.done !== true && !signal.aborted; ) {
    next = text.next(yield* chunksOfOne(next.value, reading));
  }
  if (!signal.aborted) await calls.run(() => connection.run('COMMIT'), queryContext);
}

async function* chunksOfOne(
  { text, columns, mayBuffer, acquireSlot, onChunk }: Statement,
  { connection, calls, signal, queryContext, ...reading }: Reading,
): AsyncGenerator<ResultChunk, StatementEnd, undefined> {
  let rowCount = 0;
  let clientMs = 0;
  const whole: ResultChunk[] = [];
  const decoder = columns === undefined ? reading.decoder : reading.decoderOf(columns);
  const release = await acquireSlot?.(queryContext);
  const beginMs = performance.now();
  const chunksOut = function* (): Generator<ResultChunk, void, undefined> {
    // All later chunks are read only when the client requests them.
    release?.();
    for (let made = whole.shift(); made !== undefined; made = whole.shift()) {
      const handedOutMs = performance.now();
      yield made;
      clientMs += performance.now() - handedOutMs;
    }
  };
  try {
    const result = await calls.run(() => connection.stream(text), queryContext);
    for (let isEnd = false; !isEnd && !signal.aborted; ) {
      const chunk = await calls.run(() => result.fetchChunk(), queryContext);
      isEnd = chunk === null || chunk.rowCount === 0;
      if (isEnd && !signal.aborted && !endedNormally(result)) {
        await calls.run(() => throwFailure(connection, text, rowCount), queryContext);
      }
      // Chunks are decoded before the wait, because DuckDB frees their memory when they are
      // collected. Young chunks are collected soon, but the garbage collector does not account for
      // their memory.
      for await (const piece of isEnd || chunk === null
        ? []
        : decoder.decode(chunk, queryContext)) {
        rowCount += piece.rowCount;
        onChunk?.(piece);
        if (columns === undefined) whole.push(piece);
        else piece.release?.();
        if (!mayBuffer?.(rowCount)) yield* chunksOut();
        if (signal.aborted) break;
      }
    }
    yield* chunksOut();
  } finally {
    release?.();
    // These chunks are not needed.
    for (const made of whole) made.release?.();
  }
  return { rowCount, clientMs, duckDbMs: performance.now() - beginMs - clientMs };
}
