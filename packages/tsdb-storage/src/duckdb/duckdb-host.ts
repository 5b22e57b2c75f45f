import type { DuckDBConnection } from '@duckdb/node-api';
import { EventLoopYielder, threadPoolSize } from '@plinth/kernel';
import { STRING_T_BYTES } from '@plinth/tsdb-model/columns/inlined-texts.js';
import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { BlockMemory } from '../buffer/block-memory.js';
import { callLimitersOf, type DuckDbCallLimiter } from './duckdb-call-limiter.js';
import type { DuckDbSettings } from './instance/duckdb-settings.js';
import { aroundCall } from './instance/duckdb-watch.js';
import { isOutOfMemory, MemoryWatch } from './instance/memory-watch.js';
import type { OpenInstance } from './instance/open-instance.js';
import { readAhead } from './read-ahead.js';
import { type RunningStatement, RunningStatements } from './running-statements.js';
import { chunksOf, notifyingReadAhead, type Statements } from './statement-chunks.js';
import { TableMemory } from './table-memory.js';

/**
 * The embedded DuckDB: one in-memory instance that can access only files below the data folder
 * (`allowed_directories`, then no external access, then a locked configuration).
 */
export class DuckDbHost {
  readonly #settings: DuckDbSettings;
  /** Event-loop yields for moves of rows to DuckDB and all other blocking work. */
  readonly yielder = new EventLoopYielder();
  /**
   * Memory of old blocks that new blocks reuse, and the limit for moved blocks that queries still
   * use.
   */
  readonly blockMemory = new BlockMemory();
  readonly tableMemory: TableMemory;
  readonly #idle: DuckDBConnection[] = [];
  readonly #calls = callLimitersOf(threadPoolSize());
  readonly #memory: MemoryWatch;
  readonly #statements = new RunningStatements();
  #opened: Promise<OpenInstance> | undefined;
  #writerTail: Promise<unknown> = Promise.resolve();
  /** Files of the server that are being written. */
  readonly #copying = new Set<Promise<unknown>>();

  /**
   * Does not load DuckDB. Its library is larger than the rest of the program, and startup must not
   * wait for it.
   */
  constructor(settings: DuckDbSettings) {
    this.#settings = settings;
    this.#memory = new MemoryWatch({ limitBytes: settings.memoryLimitBytes });
    this.tableMemory = new TableMemory(settings.memoryLimitBytes);
  }

  /** DuckDB's memory limit in bytes. */
  get memoryLimitBytes(): number {
    return this.#settings.memoryLimitBytes;
  }

  /**
   * Opens DuckDB in the background, for statements that are expected soon. If it fails, those
   * statements report the error.
   */
  prepare(): void {
    this.#whenOpen().catch(() => undefined);
  }

  /** The first statement opens DuckDB. After a failure the next one tries again. */
  #whenOpen(): Promise<OpenInstance> {
    this.#opened ??= import('./instance/open-instance.js')
      .then(({ openInstance }) => openInstance(this.#settings))
      .catch((error: unknown) => {
        this.#opened = undefined;
        throw error;
      });
    return this.#opened;
  }

  /**
   * Runs `work` exclusively on the writer connection, after all work queued before. Buffer tables,
   * flushes and appends share this connection.
   */
  withWriter<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    const result = this.#writerTail.then(async () => await work((await this.#whenOpen()).writer));
    this.#writerTail = result.catch(() => undefined); // The caller receives the failure; the next work runs regardless.
    return result;
  }

  /** Runs a short internal statement and returns its rows. */
  async rows(text: string): Promise<readonly (readonly unknown[])[]> {
    const connection = await this.#acquireConnection();
    try {
      return await this.#calls.background.run(async () => {
        const reader = await connection.runAndReadAll(text);
        return reader.getRows();
      });
    } finally {
      this.#releaseConnection(connection);
    }
  }

  /**
   * Writes a file of the server. Sorting its rows may use all available memory. Statements that run
   * out of memory in the meantime wait until the file is written.
   */
  async copy(text: string): Promise<void> {
    const copying = this.#copy(text);
    this.#copying.add(copying);
    try {
      await copying;
    } finally {
      this.#copying.delete(copying);
    }
  }

  async #copy(text: string): Promise<void> {
    if (this.#settings.threads < 2) {
      await this.rows(text);
      return;
    }
    const connection = await this.#acquireConnection();
    try {
      const { runInBackground } = await import('./run-in-background.js'); // native code that is loaded after DuckDB
      await aroundCall(connection, 'duckdb.copy', () => runInBackground(connection, text));
    } finally {
      this.#releaseConnection(connection);
    }
  }

  /**
   * Runs a query's statement for its effect. An aborted signal interrupts it. @returns the number
   * of rows changed or written.
   */
  async run(text: string, queryContext: QueryContext): Promise<number> {
    const running = this.#statements.begin();
    try {
      for (;;) {
        try {
          return await this.#run(text, queryContext);
        } catch (error) {
          if (!isOutOfMemory(error)) throw error;
          if (!(await this.#waitForRetry(running, queryContext.signal))) throw error;
        }
      }
    } finally {
      running.end();
    }
  }

  async #run(text: string, queryContext: QueryContext): Promise<number> {
    const { signal } = queryContext;
    signal.throwIfAborted();
    const connection = await this.#acquireConnection();
    const interruptWatch = new InterruptWatch(connection, signal);
    const memoryUse = this.#memory.begin(() => interruptWatch.interrupt());
    try {
      const result = await this.#calls.queries.run(() => connection.run(text), queryContext);
      memoryUse.check(); // An interrupted statement may end like a completed one.
      return result.rowsChanged;
    } catch (error) {
      memoryUse.check();
      throw error;
    } finally {
      memoryUse.end();
      interruptWatch.end();
      this.#releaseConnection(connection);
    }
  }

  /**
   * Runs a query and yields its chunks, reading some ahead (`maxReadAhead`). Aborting the signal or
   * ending the iteration interrupts DuckDB. A statement that runs out of memory because of others
   * is run again.
   */
  async *stream(options: StreamOptions): AsyncGenerator<ResultChunk, void, undefined> {
    const running = this.#statements.begin();
    let isBegun = false;
    try {
      for (let isDone = false; !isDone; ) {
        try {
          for await (const chunk of this.#stream(options)) {
            isBegun = true;
            yield chunk;
          }
          isDone = true;
        } catch (error) {
          if (isBegun || typeof options.text !== 'string' || !isOutOfMemory(error)) throw error;
          if (!(await this.#waitForRetry(running, options.signal))) throw error;
        }
      }
    } finally {
      running.end();
    }
  }

  /**
   * Files being written may use all memory while they are sorted, so one retry waits for them,
   * regardless of the run time.
   */
  async #waitForRetry(running: RunningStatement, signal: AbortSignal): Promise<boolean> {
    if (this.#copying.size === 0) return await running.waitForRetry(signal);
    if (!running.mayWaitForFiles()) return false;
    await Promise.allSettled(this.#copying);
    return !signal.aborted;
  }

  async *#stream(options: StreamOptions): AsyncGenerator<ResultChunk, void, undefined> {
    options.signal.throwIfAborted();
    const { decoderOf } = await this.#whenOpen();
    const connection = await this.#acquireConnection();
    const interruptWatch = new InterruptWatch(connection, options.signal);
    const memoryUse = this.#memory.begin(() => interruptWatch.interrupt());
    const calls = options.isBackground ? this.#calls.background : this.#calls.queries;
    let isDrained = false;
    try {
      const { text, columns, isMaterialized } = options;
      const decoder = decoderOf(columns);
      // Few rows may contain long strings, and DuckDB would hold all of them outside of its limit.
      if (typeof text === 'string' && isMaterialized && rowSizeOf(columns) !== undefined) {
        const result = await calls.run(() => connection.run(text), options);
        isDrained = true;
        for (let i = 0; i < result.chunkCount; i++)
          yield* decoder.decode(result.getChunk(i), options);
      } else {
        const stopped = new AbortController();
        const { onReadAhead, readAheadRows = 0 } = options;
        const aheadCount = Math.max(1, Math.ceil(readAheadRows / CHUNK_ROWS));
        const { signal } = stopped;
        const queryContext = {
          owner: options.owner,
          signal: AbortSignal.any([signal, options.signal]),
        };
        const chunks = chunksOf({
          connection,
          calls,
          text,
          decoder,
          decoderOf,
          signal,
          queryContext,
        });
        const source =
          onReadAhead === undefined ? chunks : notifyingReadAhead(chunks, aheadCount, onReadAhead);
        const stop = (): void => {
          stopped.abort();
          interruptWatch.interrupt();
        };
        // One more chunk reports the end, and DuckDB then releases its memory.
        const leastCount = readAheadRows === 0 ? 1 : aheadCount + 1;
        yield* readAhead(source, {
          maxCount: maxReadAhead(columns),
          leastCount,
          stop,
          drop: (chunk) => chunk.release?.(),
        });
        isDrained = !stopped.signal.aborted;
      }
      memoryUse.check();
    } catch (error) {
      memoryUse.check();
      throw error;
    } finally {
      memoryUse.end();
      interruptWatch.end();
      if (isDrained) this.#releaseConnection(connection);
      else await this.#abandon(connection, calls, options.owner);
    }
  }

  /**
   * Ends an unfinished statement. DuckDB threads may still compute its result, and closing the
   * connection would block this thread until they stop. Another statement waits for them in a pool
   * thread instead.
   */
  async #abandon(
    connection: DuckDBConnection,
    calls: DuckDbCallLimiter,
    owner: string | undefined,
  ): Promise<void> {
    connection.interrupt();
    const ended = calls.run(() => connection.run('SELECT 1'), { owner });
    await ended.catch(() => undefined); // Even if this fails, the connection can be closed.
    connection.closeSync();
  }

  async #acquireConnection(): Promise<DuckDBConnection> {
    return this.#idle.pop() ?? (await (await this.#whenOpen()).connect());
  }

  #releaseConnection(connection: DuckDBConnection): void {
    if (this.#idle.length < this.#settings.idleConnections) this.#idle.push(connection);
    else connection.closeSync();
  }

  /**
   * Whether statements of queries are still running, possibly also after `close`. They read and
   * spill below the data folder.
   */
  get isWorking(): boolean {
    return this.#statements.count > 0;
  }

  async close(): Promise<void> {
    await this.#writerTail;
    const opened = await this.#opened?.catch(() => undefined); // The statement that opened DuckDB reported the failure.
    // Closing would block the event loop until they end. The process exits without closing.
    if (this.isWorking) return;
    for (const connection of this.#idle.splice(0)) connection.closeSync();
    opened?.writer.closeSync();
    opened?.instance.closeSync();
  }
}

export interface StreamOptions {
  /**
   * SQL text, or several statements that run in order on one snapshot of the tables. Each is
   * requested when it is about to run.
   */
  readonly text: string | Statements;
  readonly columns: readonly OutputColumn[];
  readonly signal: AbortSignal;
  /** Owner of the query; absent for the server's own work. */
  readonly owner?: string | undefined;
  /** True for the server's own work, which queries do not delay. */
  readonly isBackground?: boolean;
  /** If true, the complete result is computed in one call, which saves a round trip. */
  readonly isMaterialized: boolean;
  /**
   * Number of rows that are read ahead even if the client reads nothing, because DuckDB would use
   * more memory for them.
   */
  readonly readAheadRows?: number | undefined;
  /**
   * Called when these rows, or at least the first chunk, are read ahead. May be called more than
   * once.
   */
  readonly onReadAhead?: (() => void) | undefined;
}

/**
 * Maximum chunks read ahead for a client that is faster than DuckDB. The client reads them while
 * the next statement sorts its rows.
 */
const MAX_AHEAD = 64;
/** Maximum values in these chunks; most have 8 bytes. */
const MAX_AHEAD_VALUES = 4 * 1024 * 1024;
export const CHUNK_ROWS = 2048;
/** Maximum number of chunks read ahead for columns whose size depends on the values or is large. */
const MAX_WIDE_AHEAD = 2;

/** Returns the maximum number of chunks read ahead for these columns. */
export function maxReadAhead(columns: readonly Pick<OutputColumn, 'type'>[]): number {
  if (!columns.every(({ type }) => isNarrow(type))) return MAX_WIDE_AHEAD;
  const fitting = Math.floor(MAX_AHEAD_VALUES / (CHUNK_ROWS * columns.length));
  return Math.max(MAX_WIDE_AHEAD, Math.min(MAX_AHEAD, fitting));
}

/** Returns the approximate bytes per row; `undefined` if they depend on the values. */
export function rowSizeOf(columns: readonly Pick<OutputColumn, 'type'>[]): number | undefined {
  if (!columns.every(({ type }) => isNarrow(type))) return undefined;
  return columns.reduce((sum, { type }) => sum + (type.kind === 'tag' ? STRING_T_BYTES : 8), 0);
}

/** Tags count as narrow, because they are short. */
function isNarrow({ kind }: SqlType): boolean {
  return (
    kind !== 'utf8' && kind !== 'binary' && kind !== 'list' && kind !== 'struct' && kind !== 'map'
  );
}

const INTERRUPT_INTERVAL_MS = 20;

/**
 * Interrupts a connection's statement when its signal is aborted. DuckDB ignores interrupts before
 * a statement has started, and statements may wait for a thread first. Therefore, the interrupt is
 * repeated until the statement ends.
 */
class InterruptWatch {
  readonly #signal: AbortSignal;
  readonly #interrupt: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: DuckDBConnection, signal: AbortSignal) {
    this.#signal = signal;
    this.#interrupt = () => {
      connection.interrupt();
      this.#timer ??= setInterval(this.#interrupt, INTERRUPT_INTERVAL_MS).unref();
    };
    if (signal.aborted) this.interrupt();
    else signal.addEventListener('abort', this.#interrupt, { once: true });
  }

  interrupt(): void {
    this.#interrupt();
  }

  /** Call when the statement has ended. The connection may then run other statements. */
  end(): void {
    this.#signal.removeEventListener('abort', this.#interrupt);
    clearInterval(this.#timer);
  }
}
