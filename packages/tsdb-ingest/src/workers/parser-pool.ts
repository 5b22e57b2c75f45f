import { availableParallelism } from 'node:os';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { BodyParser } from '../body-parser.js';
import { DEFAULT_LIMITS, type ParserLimits } from '../parser-dictionary.js';
import { decodeSnappy, snappySize } from '../prometheus/snappy.js';
import type { ParseJobOptions } from './parser-messages.js';
import { type ParseResult, ParserThread } from './parser-thread.js';
import { warmUpBody } from './warm-up-body.js';

export type { ParseJobOptions } from './parser-messages.js';
export type { ParseResult } from './parser-thread.js';

export interface ParserPoolOptions {
  readonly workerCount: number;
  /**
   * Bodies up to this size are parsed synchronously in the caller's thread: a worker costs more
   * than it saves.
   */
  readonly inlineSizeBytes: number;
  /**
   * Total size of the bodies (as received) in workers. Above it, `parse` rejects with
   * `buffer_full`, unless all workers are idle.
   */
  readonly maxInFlightBytes: number;
  readonly limits: ParserLimits;
  /** A secret of the process, so that clients cannot write series with colliding hashes. */
  readonly hashSeed: number;
}

/** The caller's own parser has this worker id. */
const INLINE_WORKER_ID = 0;

const DEFAULT_OPTIONS: ParserPoolOptions = {
  workerCount: Math.max(1, availableParallelism() - 1),
  inlineSizeBytes: 32 * 1024,
  maxInFlightBytes: 256 * 1024 * 1024,
  limits: DEFAULT_LIMITS,
  hashSeed: 0,
};
const RETRY_AFTER_SEC = 1;

/**
 * Columns of bodies parsed in the caller's thread have their own memory, so there is nothing to
 * release.
 */
const NO_RELEASE = (): void => undefined;

const WARM_UP_ROUNDS = 12;
const WARM_UP_OPTIONS: ParseJobOptions = {
  database: '', // no client uses an empty name
  precision: 'nanosecond',
  receivedNs: 0n,
  encoding: 'identity',
  maxSizeBytes: 1024 * 1024,
};

/**
 * Parses bodies: small ones synchronously, the others in worker threads. Results of one worker
 * arrive in call order; workers are independent of each other. If a worker crashes, its jobs reject
 * with `ParserCrashed`. Its replacement has another worker id and none of its series numbers.
 */
export class ParserPool {
  readonly #options: ParserPoolOptions;
  readonly #inline: BodyParser;
  /** Started on demand; an empty slot is filled when it is next selected. */
  readonly #workers: (ParserThread | undefined)[];
  #lastWorkerId = INLINE_WORKER_ID;
  #isClosed = false;

  constructor(options: Partial<ParserPoolOptions> = {}) {
    this.#options = { ...DEFAULT_OPTIONS, ...options };
    this.#inline = new BodyParser(this.#options.limits, this.#options.hashSeed);
    this.#workers = Array.from({ length: Math.max(1, this.#options.workerCount) }, () => undefined);
  }

  /**
   * Takes ownership of `body`; the decoded body is part of the result. Rejects with
   * `body_not_utf8`, `body_too_large`, `gzip_corrupt`, `snappy_corrupt`, `buffer_full`,
   * `shutting_down` or `ParserCrashed`.
   */
  async parse(body: Uint8Array, options: ParseJobOptions): Promise<ParseResult> {
    const parsed = this.parseNow(body, options);
    if (parsed !== undefined) return parsed;
    const inFlightBytes = this.#workers.reduce(
      (sum, worker) => sum + (worker?.bytesInFlight ?? 0),
      0,
    );
    if (inFlightBytes > 0 && inFlightBytes + body.length > this.#options.maxInFlightBytes) {
      throw tsdbError('buffer_full', { retryAfterSec: RETRY_AFTER_SEC });
    }
    return await this.#idlestWorker().parse(body, options);
  }

  /**
   * Parses in the caller's thread; `undefined` if a worker has to parse the body. Throws the errors
   * with which `parse` rejects.
   */
  parseNow(body: Uint8Array, options: ParseJobOptions): ParseResult | undefined {
    if (this.#isClosed) throw tsdbError('shutting_down');
    const isSmall = body.length <= Math.min(this.#options.inlineSizeBytes, options.maxSizeBytes);
    if (options.encoding === 'snappy') return this.#parseSnappyNow(body, options);
    if (!isSmall || options.encoding !== 'identity') return undefined;
    const parsed = this.#inline.parse(body, options);
    return { parserId: INLINE_WORKER_ID, parsed, body, release: NO_RELEASE };
  }

  /**
   * Decodes in this thread, because decoding Snappy takes less than a tenth of the parsing time.
   */
  #parseSnappyNow(body: Uint8Array, options: ParseJobOptions): ParseResult | undefined {
    const sizeBytes = snappySize(body);
    if (sizeBytes > Math.min(this.#options.inlineSizeBytes, options.maxSizeBytes)) return undefined;
    const decoded = decodeSnappy(body, options.maxSizeBytes);
    const parsed = this.#inline.parse(decoded, options);
    return { parserId: INLINE_WORKER_ID, parsed, body: decoded, release: NO_RELEASE };
  }

  /**
   * Starts a worker and lets it parse generated bodies until the runtime has compiled the parser:
   * the first large body would otherwise wait for both. The results are discarded. Returns
   * immediately when `signal` is aborted.
   */
  async warmUp(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    const worker = this.#idlestWorker();
    for (let round = 0; round < WARM_UP_ROUNDS && !signal.aborted; round++) {
      await Promise.race([worker.parse(warmUpBody(round), WARM_UP_OPTIONS), aborted]);
    }
    worker.clear();
  }

  /** Makes all parsers clear their tables, fields and series, to free the memory of deleted tables. */
  clear(): void {
    this.#inline.clear();
    for (const worker of this.#workers) worker?.clear();
  }

  /**
   * Stops all workers; unfinished jobs reject with `shutting_down`. Calling it twice is harmless.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const workers = this.#workers.filter((worker) => worker !== undefined);
    this.#workers.fill(undefined);
    await Promise.all(workers.map((worker) => worker.close(tsdbError('shutting_down'))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Returns the worker with the fewest pending bytes. An idle worker is preferred to a new thread.
   */
  #idlestWorker(): ParserThread {
    let best = 0;
    let bestBytes = Number.POSITIVE_INFINITY;
    for (const [place, worker] of this.#workers.entries()) {
      // Half a byte ranks a new thread after an idle worker and before a busy one.
      const bytes = worker?.bytesInFlight ?? 0.5;
      if (bytes < bestBytes) [best, bestBytes] = [place, bytes];
    }
    return this.#workers[best] ?? this.#startWorker(best);
  }

  #startWorker(workerIndex: number): ParserThread {
    const { limits, hashSeed } = this.#options;
    const worker = new ParserThread(++this.#lastWorkerId, { limits, hashSeed }, () => {
      if (this.#workers[workerIndex] === worker) this.#workers[workerIndex] = undefined;
    });
    this.#workers[workerIndex] = worker;
    return worker;
  }
}
