import type { Clock } from '@plinth/kernel';
import { IdentityState } from './identity-state.js';

export interface IdentityTableOptions {
  readonly clock: Clock;
  /** At this number, the least recently seen identity of a sample is evicted, addresses first. */
  readonly maxCount: number;
  /** Whether an identity has no counters worth keeping. */
  readonly isIdle: (state: IdentityState) => boolean;
}

/** Maximum duration of a sweep; the next tick continues it. */
const MAX_SWEEP_MS = 1;
const SWEEP_STEP_COUNT = 64;
/** Number of identities sampled for an eviction. */
const EVICTION_SAMPLE_COUNT = 16;

/** A bounded table of identities by key. Idle ones are removed in small steps. */
export class IdentityTable {
  readonly #options: IdentityTableOptions;
  /**
   * Addresses are separate, so that a flood of addresses does not evict authenticated identities.
   */
  readonly #addresses = new Round();
  readonly #others = new Round();
  /** Identities with a current or former ban. */
  readonly bannedKeys = new Set<string>();
  /** Number of windows of all identities; maintained by the code that opens or closes a window. */
  bucketCount = 0;

  constructor(options: IdentityTableOptions) {
    this.#options = options;
  }

  get(key: string): IdentityState | undefined {
    return (isAddress(key) ? this.#addresses : this.#others).states.get(key);
  }

  *values(): Iterable<IdentityState> {
    yield* this.#addresses.states.values();
    yield* this.#others.states.values();
  }

  /** Adds an identity that is not in the table. */
  open(key: string): IdentityState {
    const count = this.#addresses.states.size + this.#others.states.size;
    if (count >= this.#options.maxCount) this.#makeRoom();
    // Keys are concatenated strings, which retain their parts; a flat copy takes half the memory.
    const own = Buffer.from(key).toString();
    const state = new IdentityState(own);
    (isAddress(own) ? this.#addresses : this.#others).states.set(own, state);
    return state;
  }

  /** Removes idle identities for about a millisecond, continuing where the last call stopped. */
  sweep(): void {
    for (const round of [this.#addresses, this.#others]) this.#sweepFor(round, MAX_SWEEP_MS / 2);
  }

  #sweepFor(round: Round, durationMs: number): void {
    const { clock, isIdle } = this.#options;
    const endMs = clock.monotonicMs() + durationMs;
    let left = round.states.size;
    while (left > 0 && clock.monotonicMs() < endMs) {
      for (let step = 0; step < SWEEP_STEP_COUNT && left > 0; step += 1, left -= 1) {
        const state = round.next();
        if (state !== undefined && state.inFlight === 0 && isIdle(state)) this.#forget(state);
      }
    }
  }

  /**
   * Evicts one identity: an idle one if found, or the least recently seen of a sample. Addresses
   * are evicted first.
   */
  #makeRoom(): void {
    const victim = this.#findVictim(this.#addresses) ?? this.#findVictim(this.#others);
    if (victim !== undefined) this.#forget(victim);
  }

  #findVictim(round: Round): IdentityState | undefined {
    const count = Math.min(EVICTION_SAMPLE_COUNT, round.states.size);
    let victim: IdentityState | undefined;
    for (let sampledCount = 0; sampledCount < count; sampledCount += 1) {
      const state = round.next();
      if (state === undefined || state.inFlight > 0) continue;
      if (this.#options.isIdle(state)) return state;
      if (victim === undefined || this.#givesWayBefore(state, victim)) victim = state;
    }
    return victim;
  }

  /**
   * Banned identities are evicted last; otherwise a flood of other identities could remove a ban.
   */
  #givesWayBefore(one: IdentityState, other: IdentityState): boolean {
    const isBanned = this.bannedKeys.has(one.key);
    if (isBanned !== this.bannedKeys.has(other.key)) return !isBanned;
    return one.seenSec < other.seenSec;
  }

  #forget(state: IdentityState): void {
    (isAddress(state.key) ? this.#addresses : this.#others).states.delete(state.key);
    this.bannedKeys.delete(state.key);
    this.bucketCount -= windowCount(state);
  }
}

/** Identities of one kind, with the position of the sweep. */
class Round {
  readonly states = new Map<string, IdentityState>();
  /**
   * Created on demand: an idle iterator retains every table that the map has outgrown since its
   * last step.
   */
  #sweep: MapIterator<IdentityState> | undefined;

  /** Iterates in an endless loop; new identities are visited at the end of a round. */
  next(): IdentityState | undefined {
    this.#sweep ??= this.states.values();
    let next = this.#sweep.next();
    if (next.done) {
      this.#sweep = this.states.values();
      next = this.#sweep.next();
    }
    return next.value;
  }
}

/** Whether the key starts with `ip:`. No other class starts with these two letters. */
const isAddress = (key: string): boolean =>
  key.charCodeAt(0) === LETTER_I && key.charCodeAt(1) === LETTER_P;

const LETTER_I = 0x69;
const LETTER_P = 0x70;

export const windowCount = ({ resourceIndex, extra }: IdentityState): number =>
  (resourceIndex === -1 ? 0 : 1) + (extra?.windows?.size ?? 0);
