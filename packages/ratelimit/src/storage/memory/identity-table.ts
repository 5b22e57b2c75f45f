import type { Clock } from '@plinth/kernel';
import { IdentityState } from './identity-state.js';

export interface IdentityTableOptions {
  readonly clock: Clock;
  /** Then the least recently seen of a sample gives way, addresses first. */
  readonly maxCount: number;
  /** Nothing of it matters any more. */
  readonly isIdle: (state: IdentityState) => boolean;
}

/** The tick gives the thread back after so much of looking, and goes on at the next. */
const MAX_SWEEP_MS = 1;
const SWEEP_STEP_COUNT = 64;
/** Identities that are looked at when room is needed for one. */
const EVICTION_SAMPLE_COUNT = 16;

/** Identities by key, as many as there may be. Idle ones are looked for a few at a time. */
export class IdentityTable {
  readonly #options: IdentityTableOptions;
  /** Apart from the others, so that a flood of addresses never costs anybody who is signed in. */
  readonly #addresses = new Round();
  readonly #others = new Round();
  /** Of identities that are or were banned. */
  readonly bannedKeys = new Set<string>();
  /** Windows of all identities; whoever opens or ends one says so here. */
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

  /** Adds one that is not there. */
  open(key: string): IdentityState {
    const count = this.#addresses.states.size + this.#others.states.size;
    if (count >= this.#options.maxCount) this.#makeRoom();
    // Keys come as concatenations, which keep their parts alive; a copy is half the size.
    const own = Buffer.from(key).toString();
    const state = new IdentityState(own);
    (isAddress(own) ? this.#addresses : this.#others).states.set(own, state);
    return state;
  }

  /** Forgets idle identities for about a millisecond, and goes on there the next time. */
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

  /** Removes one: an idle one where there is one, or else the least recently seen of a sample, addresses first. */
  #makeRoom(): void {
    const victim = this.#lookForVictim(this.#addresses) ?? this.#lookForVictim(this.#others);
    if (victim !== undefined) this.#forget(victim);
  }

  #lookForVictim(round: Round): IdentityState | undefined {
    const count = Math.min(EVICTION_SAMPLE_COUNT, round.states.size);
    let victim: IdentityState | undefined;
    for (let looked = 0; looked < count; looked += 1) {
      const state = round.next();
      if (state === undefined || state.inFlight > 0) continue;
      if (this.#options.isIdle(state)) return state;
      if (victim === undefined || this.#givesWayBefore(state, victim)) victim = state;
    }
    return victim;
  }

  /** Who is banned gives way last: a ban that others could wash away would be none. */
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

/** Identities of one kind, and how far the search for idle ones has come. */
class Round {
  readonly states = new Map<string, IdentityState>();
  /** None before it is needed: an iterator keeps every table alive that the map has outgrown since it last moved. */
  #sweep: MapIterator<IdentityState> | undefined;

  /** Goes round and round; new identities come at the end of the round. */
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

/** Whether the key begins with `ip:`; no other class begins with these two letters. */
const isAddress = (key: string): boolean =>
  key.charCodeAt(0) === LETTER_I && key.charCodeAt(1) === LETTER_P;

const LETTER_I = 0x69;
const LETTER_P = 0x70;

export const windowCount = ({ resourceIndex, extra }: IdentityState): number =>
  (resourceIndex === -1 ? 0 : 1) + (extra?.windows?.size ?? 0);
