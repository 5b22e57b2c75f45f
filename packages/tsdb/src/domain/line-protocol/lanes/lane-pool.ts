import { availableParallelism } from 'node:os';
import { tsdbError } from '../../../errors.js';
import { LineProtocolParser } from '../line-protocol-parser.js';
import { DEFAULT_LIMITS, type ParserLimits } from '../parser-memory.js';
import { Lane, type LaneResult } from './lane.js';
import type { LaneJobOptions } from './lane-messages.js';
import { warmUpBody } from './warm-up-body.js';

export type { LaneResult } from './lane.js';
export type { LaneJobOptions } from './lane-messages.js';

export interface LanePoolOptions {
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
const INLINE_LANE_ID = 0;

const DEFAULT_OPTIONS: LanePoolOptions = {
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
const WARM_UP_OPTIONS: LaneJobOptions = {
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
export class LanePool {
  readonly #options: LanePoolOptions;
  readonly #inline: LineProtocolParser;
  /** Started with the first body that needs one; an empty place is filled when its turn comes. */
  readonly #lanes: (Lane | undefined)[];
  #lastLaneId = INLINE_LANE_ID;
  #isClosed = false;

  constructor(options: Partial<LanePoolOptions> = {}) {
    this.#options = { ...DEFAULT_OPTIONS, ...options };
    this.#inline = new LineProtocolParser(this.#options.limits, this.#options.hashSeed);
    this.#lanes = Array.from({ length: Math.max(1, this.#options.laneCount) }, () => undefined);
  }

  /**
   * Ownership of `body` passes to the pool; the decoded body comes back with the result.
   * Rejects with `body_not_utf8`, `body_too_large`, `gzip_corrupt`, `buffer_full`, `shutting_down` or `LaneCrashed`.
   */
  async parse(body: Uint8Array, options: LaneJobOptions): Promise<LaneResult> {
    const parsed = this.parseNow(body, options);
    if (parsed !== undefined) return parsed;
    const inFlightBytes = this.#lanes.reduce((sum, lane) => sum + (lane?.bytesInFlight ?? 0), 0);
    if (inFlightBytes > 0 && inFlightBytes + body.length > this.#options.maxInFlightBytes) {
      throw tsdbError('buffer_full', { retryAfterSec: RETRY_AFTER_SEC });
    }
    return await this.#idlestLane().parse(body, options);
  }

  /** The same for a body that the caller's thread reads itself; `undefined`: a lane has to. Throws. */
  parseNow(body: Uint8Array, options: LaneJobOptions): LaneResult | undefined {
    if (this.#isClosed) throw tsdbError('shutting_down');
    const isSmall = body.length <= Math.min(this.#options.inlineSizeBytes, options.maxSizeBytes);
    if (!isSmall || options.encoding !== 'identity') return undefined;
    const parsed = this.#inline.parse(body, options);
    return { laneId: INLINE_LANE_ID, parsed, body, giveBack: NOTHING_TO_GIVE };
  }

  /**
   * Starts a lane and lets it read bodies of its own until the runtime has compiled what lines run through: the first large
   * body would wait for both otherwise. Nothing of what it read is kept. Returns at once when `signal` is aborted.
   */
  async warmUp(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    const lane = this.#idlestLane();
    for (let round = 0; round < WARM_UP_ROUNDS && !signal.aborted; round++) {
      await Promise.race([lane.parse(warmUpBody(round), WARM_UP_OPTIONS), aborted]);
    }
    lane.forget();
  }

  /** All parsers start over, so that what was deleted takes no memory in them. */
  forget(): void {
    this.#inline.forget();
    for (const lane of this.#lanes) lane?.forget();
  }

  /** Ends all lanes; what they have not answered is rejected with `shutting_down`. Twice is harmless. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const lanes = this.#lanes.filter((lane) => lane !== undefined);
    this.#lanes.fill(undefined);
    await Promise.all(lanes.map((lane) => lane.close(tsdbError('shutting_down'))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The lane with the fewest bytes to do. An idle lane is preferred to a new thread. */
  #idlestLane(): Lane {
    let best = 0;
    let bestBytes = Number.POSITIVE_INFINITY;
    for (const [place, lane] of this.#lanes.entries()) {
      // Half a byte: after an idle lane, before a busy one.
      const bytes = lane?.bytesInFlight ?? 0.5;
      if (bytes < bestBytes) [best, bestBytes] = [place, bytes];
    }
    return this.#lanes[best] ?? this.#startLane(best);
  }

  #startLane(place: number): Lane {
    const { limits, hashSeed } = this.#options;
    const lane = new Lane(++this.#lastLaneId, { limits, hashSeed }, () => {
      if (this.#lanes[place] === lane) this.#lanes[place] = undefined;
    });
    this.#lanes[place] = lane;
    return lane;
  }
}
