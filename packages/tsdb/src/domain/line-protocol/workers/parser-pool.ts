import { availableParallelism } from 'node:os';
import { tsdbError } from '../../../errors.js';
import { LineProtocolParser } from '../line-protocol-parser.js';
import { DEFAULT_LIMITS, type ParserLimits } from '../parser-memory.js';
import type { ParseJobOptions } from './parser-messages.js';
import { type ParseResult, ParserWorker } from './parser-worker.js';
import { warmUpBody } from './warm-up-body.js';

export type { ParseJobOptions } from './parser-messages.js';
export type { ParseResult } from './parser-worker.js';

export interface ParserPoolOptions {
  readonly laneCount: number;
  /** Bodies of up to this size are parsed at once by the caller's thread: a lane costs more than it saves. */
  readonly inlineSizeBytes: number;
  /** Bodies (as received) that lanes may hold. Beyond it `parse` refuses with `buffer_full`, unless all lanes are idle. */
  readonly maxInFlightBytes: number;
  readonly limits: ParserLimits;
  /** A secret of the process, so that nobody can write series whose hashes collide. */
  readonly hashSeed: number;
}

/** The caller's own parser has this `laneId`. */
const INLINE_WORKER_ID = 0;

const DEFAULT_OPTIONS: ParserPoolOptions = {
  laneCount: Math.max(1, availableParallelism() - 1),
  inlineSizeBytes: 32 * 1024,
  maxInFlightBytes: 256 * 1024 * 1024,
  limits: DEFAULT_LIMITS,
  hashSeed: 0,
};
const RETRY_AFTER_SEC = 1;

/** Columns of bodies that the caller's thread reads have memory of their own. */
const NOTHING_TO_GIVE = (): void => undefined;

const WARM_UP_ROUNDS = 12;
const WARM_UP_OPTIONS: ParseJobOptions = {
  database: '', // that of no client
  precision: 'nanosecond',
  receivedNs: 0n,
  encoding: 'identity',
  maxSizeBytes: 1024 * 1024,
};

/**
 * Parses bodies: small ones at once, the others in worker threads. Results of one lane come in the order of the calls;
 * between lanes there is no order. A lane that crashes rejects its jobs with `LaneCrashed` and is replaced by one with
 * another `laneId`, which knows nothing of what its predecessor had numbered.
 */
export class ParserPool {
  readonly #options: ParserPoolOptions;
  readonly #inline: LineProtocolParser;
  /** Started with the first body that needs one; an empty place is filled when its turn comes. */
  readonly #workers: (ParserWorker | undefined)[];
  #lastWorkerId = INLINE_WORKER_ID;
  #isClosed = false;

  constructor(options: Partial<ParserPoolOptions> = {}) {
    this.#options = { ...DEFAULT_OPTIONS, ...options };
    this.#inline = new LineProtocolParser(this.#options.limits, this.#options.hashSeed);
    this.#workers = Array.from({ length: Math.max(1, this.#options.laneCount) }, () => undefined);
  }

  /**
   * Ownership of `body` passes to the pool; the decoded body comes back with the result.
   * Rejects with `body_not_utf8`, `body_too_large`, `gzip_corrupt`, `buffer_full`, `shutting_down` or `LaneCrashed`.
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

  /** The same for a body that the caller's thread reads itself; `undefined`: a lane has to. Throws. */
  parseNow(body: Uint8Array, options: ParseJobOptions): ParseResult | undefined {
    if (this.#isClosed) throw tsdbError('shutting_down');
    const isSmall = body.length <= Math.min(this.#options.inlineSizeBytes, options.maxSizeBytes);
    if (!isSmall || options.encoding !== 'identity') return undefined;
    const parsed = this.#inline.parse(body, options);
    return { workerId: INLINE_WORKER_ID, parsed, body, release: NOTHING_TO_GIVE };
  }

  /**
   * Starts a lane and lets it read bodies of its own until the runtime has compiled what lines run through: the first large
   * body would wait for both otherwise. Nothing of what it read is kept. Returns at once when `signal` is aborted.
   */
  async warmUp(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    const worker = this.#idlestWorker();
    for (let round = 0; round < WARM_UP_ROUNDS && !signal.aborted; round++) {
      await Promise.race([worker.parse(warmUpBody(round), WARM_UP_OPTIONS), aborted]);
    }
    worker.forget();
  }

  /** All parsers start over, so that what was deleted takes no memory in them. */
  forget(): void {
    this.#inline.forget();
    for (const worker of this.#workers) worker?.forget();
  }

  /** Ends all lanes; what they have not answered is rejected with `shutting_down`. Twice is harmless. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const workers = this.#workers.filter((worker) => worker !== undefined);
    this.#workers.fill(undefined);
    await Promise.all(workers.map((worker) => worker.close(tsdbError('shutting_down'))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The lane with the fewest bytes to do. An idle lane is preferred to a new thread. */
  #idlestWorker(): ParserWorker {
    let best = 0;
    let bestBytes = Number.POSITIVE_INFINITY;
    for (const [place, worker] of this.#workers.entries()) {
      // Half a byte: after an idle lane, before a busy one.
      const bytes = worker?.bytesInFlight ?? 0.5;
      if (bytes < bestBytes) [best, bestBytes] = [place, bytes];
    }
    return this.#workers[best] ?? this.#startWorker(best);
  }

  #startWorker(place: number): ParserWorker {
    const { limits, hashSeed } = this.#options;
    const worker = new ParserWorker(++this.#lastWorkerId, { limits, hashSeed }, () => {
      if (this.#workers[place] === worker) this.#workers[place] = undefined;
    });
    this.#workers[place] = worker;
    return worker;
  }
}
