import type { DuckDBConnection } from '@duckdb/node-api';
import { EventLoopYielder, threadPoolSize } from '@plinth/kernel';
import type { OutputColumn, ResultChunk } from '../../model/columns/result.js';
import { CELL_BYTES } from '../../model/columns/text-cells.js';
import type { QueryOwner } from '../../model/query-owner.js';
import type { SqlType } from '../../model/sql-type.js';
import { BlockMemory } from '../buffer/block-memory.js';
import { ChunkMemory } from '../buffer/chunk-memory.js';
import { callsOfPool, type EngineCalls } from './engine-calls.js';
import type { DuckDbSettings } from './instance/duckdb-settings.js';
import { isOutOfMemory, MemoryWatch } from './instance/memory-watch.js';
import type { OpenInstance } from './instance/open-instance.js';
import { readAhead } from './read-ahead.js';
import { type RunningStatement, RunningStatements } from './running-statements.js';
import { chunksOf, type Statements, tellingMade } from './statement-chunks.js';
import { TableMemory } from './table-memory.js';

/**
 * The embedded engine: one in-memory instance that can reach files below the data folder and nothing else
 * (`allowed_directories`, then no external access, then a locked configuration).
 */
export class DuckDbHost {
  readonly #settings: DuckDbSettings;
  /** For rows handed over, which holds the event loop, and for all else that does. */
  readonly turns = new EventLoopYielder();
  /** Of rows that wait for the engine. */
  readonly blockMemory = new BlockMemory();
  /** Of rows on their way into the engine. */
  readonly chunkMemory = new ChunkMemory();
  readonly tableMemory: TableMemory;
  readonly #idle: DuckDBConnection[] = [];
  readonly #calls = callsOfPool(threadPoolSize());
  readonly #memory: MemoryWatch;
  readonly #statements = new RunningStatements();
  #opened: Promise<OpenInstance> | undefined;
  #writerTail: Promise<unknown> = Promise.resolve();
  /** Files of the server that are being written. */
  readonly #copying = new Set<Promise<unknown>>();

  /** Reads nothing yet: the library is larger than the rest of the program, and a start does not wait for it. */
  constructor(settings: DuckDbSettings) {
    this.#settings = settings;
    this.#memory = new MemoryWatch({ limitBytes: settings.memoryLimitBytes });
    this.tableMemory = new TableMemory(settings.memoryLimitBytes);
  }

  /** Of memory that the engine may have. */
  get memoryLimitBytes(): number {
    return this.#settings.memoryLimitBytes;
  }

  /** Opens the engine in the background, for statements that are likely soon. They tell when that fails. */
  prepare(): void {
    this.#whenOpen().catch(() => undefined);
  }

  /** The first statement opens the engine; after a failure the next one tries again. */
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
   * Runs `work` alone on the writer connection, after all work asked for earlier: all buffer tables, flushes and appends
   * go through this one connection, one statement after the other.
   */
  withWriter<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    const result = this.#writerTail.then(async () => await work((await this.#whenOpen()).writer));
    this.#writerTail = result.catch(() => undefined); // The caller sees the failure; the next in line must not.
    return result;
  }

  /** Rows of a short internal statement. */
  async rows(text: string): Promise<readonly (readonly unknown[])[]> {
    const connection = await this.#take();
    try {
      return await this.#calls.background.run(async () => {
        const reader = await connection.runAndReadAll(text);
        return reader.getRows();
      });
    } finally {
      this.#give(connection);
    }
  }

  /** Writes a file of the server's own. It takes what memory there is while it sorts: statements that lack it wait for its end. */
  async copy(text: string): Promise<void> {
    const copying = this.rows(text);
    this.#copying.add(copying);
    try {
      await copying;
    } finally {
      this.#copying.delete(copying);
    }
  }

  /** Runs a query's statement for its effect. An aborted signal interrupts it. @returns how many rows it changed or wrote */
  async run(text: string, queryOwner: QueryOwner): Promise<number> {
    const running = this.#statements.begin();
    try {
      for (;;) {
        try {
          return await this.#run(text, queryOwner);
        } catch (error) {
          if (!isOutOfMemory(error)) throw error;
          if (!(await this.#waitForRetry(running, queryOwner.signal))) throw error;
        }
      }
    } finally {
      running.end();
    }
  }

  async #run(text: string, queryOwner: QueryOwner): Promise<number> {
    const { signal } = queryOwner;
    signal.throwIfAborted();
    const connection = await this.#take();
    const watch = new InterruptWatch(connection, signal);
    const watched = this.#memory.begin(() => watch.interrupt());
    try {
      const result = await this.#calls.queries.run(() => connection.run(text), queryOwner);
      watched.check(); // What was stopped may end as if it were done.
      return result.rowsChanged;
    } catch (error) {
      watched.check();
      throw error;
    } finally {
      watched.end();
      watch.end();
      this.#give(connection);
    }
  }

  /**
   * Runs a query and hands out its chunks, some of them made ahead while those before are used (`mostAhead`). An aborted
   * signal interrupts the engine, and so does whoever takes no more. A statement that finds no memory beside others runs again.
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

  /** Files that are being written take what memory there is while they are sorted: one retry waits for them, whatever it took. */
  async #waitForRetry(running: RunningStatement, signal: AbortSignal): Promise<boolean> {
    if (this.#copying.size === 0) return await running.waitForRetry(signal);
    if (!running.mayWaitForFiles()) return false;
    await Promise.allSettled(this.#copying);
    return !signal.aborted;
  }

  async *#stream(options: StreamOptions): AsyncGenerator<ResultChunk, void, undefined> {
    options.signal.throwIfAborted();
    const { decoderOf } = await this.#whenOpen();
    const connection = await this.#take();
    const watch = new InterruptWatch(connection, options.signal);
    const watched = this.#memory.begin(() => watch.interrupt());
    const calls = options.isBackground ? this.#calls.background : this.#calls.queries;
    let isDrained = false;
    try {
      const { text, columns, isSmall } = options;
      const decoder = decoderOf(columns);
      // Few rows may have long texts, which the engine would hold all at once outside of its limit.
      if (typeof text === 'string' && isSmall && rowSizeOf(columns) !== undefined) {
        const result = await calls.run(() => connection.run(text), options);
        isDrained = true;
        for (let i = 0; i < result.chunkCount; i++)
          yield* decoder.decode(result.getChunk(i), options);
      } else {
        const stopped = new AbortController();
        const { onMade, aheadRows = 0 } = options;
        const aheadCount = Math.max(1, Math.ceil(aheadRows / CHUNK_ROWS));
        const { signal } = stopped;
        const queryOwner = {
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
          queryOwner,
        });
        const source = onMade === undefined ? chunks : tellingMade(chunks, aheadCount, onMade);
        const stop = (): void => {
          stopped.abort();
          watch.interrupt();
        };
        // One more tells the end, with which the engine lets go of what it holds.
        const leastCount = aheadRows === 0 ? 1 : aheadCount + 1;
        yield* readAhead(source, {
          maxCount: mostAhead(columns),
          leastCount,
          stop,
          drop: (chunk) => chunk.release?.(),
        });
        isDrained = !stopped.signal.aborted;
      }
      watched.check();
    } catch (error) {
      watched.check();
      throw error;
    } finally {
      watched.end();
      watch.end();
      if (isDrained) this.#give(connection);
      else await this.#abandon(connection, calls, options.owner);
    }
  }

  /**
   * Threads of the engine may still compute for an unfinished result, and whoever closes its connection waits for them. The next
   * statement waits for them as well, in another thread than this one.
   */
  async #abandon(
    connection: DuckDBConnection,
    calls: EngineCalls,
    owner: string | undefined,
  ): Promise<void> {
    connection.interrupt();
    const ended = calls.run(() => connection.run('SELECT 1'), { owner });
    await ended.catch(() => undefined); // After a failure there is nothing to end.
    connection.closeSync();
  }

  async #take(): Promise<DuckDBConnection> {
    return this.#idle.pop() ?? (await (await this.#whenOpen()).connect());
  }

  #give(connection: DuckDBConnection): void {
    if (this.#idle.length < this.#settings.idleConnections) this.#idle.push(connection);
    else connection.closeSync();
  }

  /** Statements of queries have not ended, also after `close`: they read and spill below the data folder. */
  get isWorking(): boolean {
    return this.#statements.count > 0;
  }

  async close(): Promise<void> {
    await this.#writerTail;
    const opened = await this.#opened?.catch(() => undefined); // Whoever asked for it was told.
    // The engine would wait for them, and all else with it; the process ends without that.
    if (this.isWorking) return;
    for (const connection of this.#idle.splice(0)) connection.closeSync();
    opened?.writer.closeSync();
    opened?.instance.closeSync();
  }
}

export interface StreamOptions {
  /** Several statements answer one after the other, from one picture of the tables; each is asked for when it is run. */
  readonly text: string | Statements;
  readonly columns: readonly OutputColumn[];
  readonly signal: AbortSignal;
  /** In whose name; absent: the server's own. */
  readonly owner?: string | undefined;
  /** For the server's own work; queries do not keep it waiting. */
  readonly isBackground?: boolean;
  /** Make the whole answer at once: a round trip less than handing it out while it is made. */
  readonly isSmall: boolean;
  /** So many rows are made ahead even for a client that takes none: the engine holds more for them than they are. */
  readonly aheadRows?: number | undefined;
  /** Called when all is made that does not wait for the client: those rows, or at least the first. More often is harmless. */
  readonly onMade?: (() => void) | undefined;
}

/** Chunks made ahead for a client that is faster than the engine: it uses them while the next statement sorts its rows. */
const MAX_AHEAD = 64;
/** All of them together, of 8 bytes mostly. */
const MAX_AHEAD_VALUES = 4 * 1024 * 1024;
export const CHUNK_ROWS = 2048;
/** Where the size of a chunk depends on its values, or is large. */
const MAX_WIDE_AHEAD = 2;

/** How many chunks of these columns are made ahead. */
export function mostAhead(columns: readonly Pick<OutputColumn, 'type'>[]): number {
  if (!columns.every(({ type }) => isNarrow(type))) return MAX_WIDE_AHEAD;
  const fitting = Math.floor(MAX_AHEAD_VALUES / (CHUNK_ROWS * columns.length));
  return Math.max(MAX_WIDE_AHEAD, Math.min(MAX_AHEAD, fitting));
}

/** About as many bytes as a row takes; `undefined` where that depends on its values. */
export function rowSizeOf(columns: readonly Pick<OutputColumn, 'type'>[]): number | undefined {
  if (!columns.every(({ type }) => isNarrow(type))) return undefined;
  return columns.reduce((sum, { type }) => sum + (type.kind === 'tag' ? CELL_BYTES : 8), 0);
}

/** Tags are short. */
function isNarrow({ kind }: SqlType): boolean {
  return (
    kind !== 'utf8' && kind !== 'binary' && kind !== 'list' && kind !== 'struct' && kind !== 'map'
  );
}

const INTERRUPT_INTERVAL_MS = 20;

/**
 * Interrupts what a connection does once its signal is aborted. The engine forgets an interrupt that comes before a
 * statement has begun, and statements wait for a thread first: so it is told again until the statement has ended.
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

  /** The statement has ended: the connection may be another one's next. */
  end(): void {
    this.#signal.removeEventListener('abort', this.#interrupt);
    clearInterval(this.#timer);
  }
}
