import type { DuckDBConnection } from '@duckdb/node-api';
import type { OutputColumn, ResultChunk } from '../../model/columns/result.js';
import type { QueryOwner } from '../../model/query-owner.js';
import type { ChunkDecoder } from './decode/decode-chunk.js';
import type { EngineCalls } from './engine-calls.js';
import type { OpenInstance } from './instance/open-instance.js';
import { isWhole, throwFailure } from './stream-end.js';

/** Statements one after the other; each hears what became of the one before it. */
export type Statements = Generator<Statement, void, StatementEnd | undefined>;

export interface Statement {
  readonly text: string;
  /** Of a statement whose rows are not the answer's: `onChunk` alone is given them. */
  readonly columns?: readonly OutputColumn[];
  /** As long as it says so, rows are taken over from the engine, which then lets go of them, before the first is handed out. */
  readonly takesOver?: (rowCount: number) => boolean;
  /** Resolves when the statement may begin, with what is called when the engine goes on only as rows are taken. */
  readonly waitForSlices?: (queryOwner: QueryOwner) => Promise<() => void>;
  /** Called with each chunk that the engine has made. */
  readonly onChunk?: (chunk: ResultChunk) => void;
}

export interface StatementEnd {
  readonly rowCount: number;
  /** How long the engine was waited for, and how long the engine waited until somebody took what it had made. */
  readonly engineMs: number;
  readonly clientMs: number;
}

/** Chunks as they are; `onMade` is called with the `count`-th of them, and at the end. */
export async function* tellingMade(
  chunks: AsyncIterable<ResultChunk>,
  count: number,
  onMade: () => void,
): AsyncGenerator<ResultChunk, void, undefined> {
  let madeCount = 0;
  try {
    for await (const chunk of chunks) {
      madeCount++;
      if (madeCount === count) onMade();
      yield chunk;
    }
  } finally {
    onMade();
  }
}

/** How chunks are read. */
interface Reading {
  readonly connection: DuckDBConnection;
  readonly calls: EngineCalls;
  readonly decoder: ChunkDecoder;
  readonly decoderOf: OpenInstance['decoderOf'];
  /** Asked between two chunks: nobody wants the rest. */
  readonly signal: AbortSignal;
  /** Whose signal is that, or that the query is cancelled. */
  readonly queryOwner: QueryOwner;
}

/** Of a statement, or of several. */
export async function* chunksOf({
  text,
  ...reading
}: Reading & { readonly text: string | Statements }): AsyncGenerator<ResultChunk, void, undefined> {
  if (typeof text === 'string') {
    yield* chunksOfOne({ text }, reading);
    return;
  }
  const { connection, calls, signal, queryOwner } = reading;
  await calls.run(() => connection.run('BEGIN TRANSACTION READ ONLY'), queryOwner);
  for (let next = text.next(); next.done !== true && !signal.aborted; ) {
    next = text.next(yield* chunksOfOne(next.value, reading));
  }
  if (!signal.aborted) await calls.run(() => connection.run('COMMIT'), queryOwner);
}

async function* chunksOfOne(
  { text, columns, takesOver, waitForSlices, onChunk }: Statement,
  { connection, calls, signal, queryOwner, ...reading }: Reading,
): AsyncGenerator<ResultChunk, StatementEnd, undefined> {
  let rowCount = 0;
  let clientMs = 0;
  const whole: ResultChunk[] = [];
  const decoder = columns === undefined ? reading.decoder : reading.decoderOf(columns);
  const release = await waitForSlices?.(queryOwner);
  const beginMs = performance.now();
  const chunksOut = function* (): Generator<ResultChunk, void, undefined> {
    // What follows waits for the client.
    release?.();
    for (let made = whole.shift(); made !== undefined; made = whole.shift()) {
      const handedOutMs = performance.now();
      yield made;
      clientMs += performance.now() - handedOutMs;
    }
  };
  try {
    const result = await calls.run(() => connection.stream(text), queryOwner);
    for (let isEnd = false; !isEnd && !signal.aborted; ) {
      const chunk = await calls.run(() => result.fetchChunk(), queryOwner);
      isEnd = chunk === null || chunk.rowCount === 0;
      if (isEnd && !signal.aborted && !isWhole(result)) {
        await calls.run(() => throwFailure(connection, text, rowCount), queryOwner);
      }
      // Decoded before it waits: the engine's memory goes when its chunk is collected, which is soon as long as the chunk is
      // young, and of which the runtime knows nothing.
      for await (const piece of isEnd || chunk === null ? [] : decoder.decode(chunk, queryOwner)) {
        rowCount += piece.rowCount;
        onChunk?.(piece);
        if (columns === undefined) whole.push(piece);
        else piece.release?.();
        if (!takesOver?.(rowCount)) yield* chunksOut();
        if (signal.aborted) break;
      }
    }
    yield* chunksOut();
  } finally {
    release?.();
    // Nobody takes them.
    for (const made of whole) made.release?.();
  }
  return { rowCount, clientMs, engineMs: performance.now() - beginMs - clientMs };
}
