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
/** Looked at before somebody who is signed in gives way. */
const MAX_EVICTION_LOOK_COUNT = 256;

/** Identities by key, as many as there may be. Idle ones are looked for a few at a time. */
export class IdentityTable {
  readonly #options: IdentityTableOptions;
  readonly #states = new Map<string, IdentityState>();
  /** Of identities that are or were banned. */
  readonly bannedKeys = new Set<string>();
  /** None before it is needed: an iterator keeps every table alive that the map has outgrown since it last moved. */
  #sweep: MapIterator<IdentityState> | undefined;
  /** Windows of all identities; whoever opens or ends one says so here. */
  bucketCount = 0;

  constructor(options: IdentityTableOptions) {
    this.#options = options;
  }

  get(key: string): IdentityState | undefined {
    return this.#states.get(key);
  }

  values(): Iterable<IdentityState> {
    return this.#states.values();
  }

  /** Adds one that is not there. */
  open(key: string): IdentityState {
    if (this.#states.size >= this.#options.maxCount) this.#makeRoom();
    // Keys come as concatenations, which keep their parts alive; a copy is half the size.
    const own = Buffer.from(key).toString();
    const state = new IdentityState(own);
    this.#states.set(own, state);
    return state;
  }

  /** Forgets idle identities for about a millisecond, and goes on there the next time. */
  sweep(): void {
    const { clock, isIdle } = this.#options;
    const endMs = clock.monotonicMs() + MAX_SWEEP_MS;
    let left = this.#states.size;
    while (left > 0 && clock.monotonicMs() < endMs) {
      for (let step = 0; step < SWEEP_STEP_COUNT && left > 0; step += 1, left -= 1) {
        const state = this.#nextSwept();
        if (state !== undefined && state.inFlight === 0 && isIdle(state)) this.#forget(state);
      }
    }
  }

  /** Removes one: an idle one where there is one, or else the least recently seen of a sample, addresses first. */
  #makeRoom(): void {
    let victim: IdentityState | undefined;
    for (let count = 0; count < MAX_EVICTION_LOOK_COUNT; count += 1) {
      if (count >= EVICTION_SAMPLE_COUNT && victim?.key.startsWith('ip:')) break;
      const state = this.#nextSwept();
      if (state === undefined || state.inFlight > 0) continue;
      if (this.#options.isIdle(state)) {
        this.#forget(state);
        return;
      }
      if (victim === undefined || givesWayBefore(state, victim)) victim = state;
    }
    if (victim !== undefined) this.#forget(victim);
  }

  /** Goes round and round; new identities come at the end of the round. */
  #nextSwept(): IdentityState | undefined {
    this.#sweep ??= this.#states.values();
    let next = this.#sweep.next();
    if (next.done) {
      this.#sweep = this.#states.values();
      next = this.#sweep.next();
    }
    return next.value;
  }

  #forget(state: IdentityState): void {
    this.#states.delete(state.key);
    this.bannedKeys.delete(state.key);
    this.bucketCount -= windowCount(state);
  }
}

export const windowCount = ({ resourceIndex, extra }: IdentityState): number =>
  (resourceIndex === -1 ? 0 : 1) + (extra?.windows?.size ?? 0);

function givesWayBefore(one: IdentityState, other: IdentityState): boolean {
  const isAddress = one.key.startsWith('ip:');
  if (isAddress !== other.key.startsWith('ip:')) return isAddress;
  return one.seenSec < other.seenSec;
}
