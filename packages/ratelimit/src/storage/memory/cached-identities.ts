import { BAN_MEMORY_MS } from '../../model/limit-store.js';
import { SlidingSum } from '../../model/sliding-sum.js';
import { type SteadyTime, wholeSec } from '../steady-time.js';
import type { IdentityState } from './identity-state.js';
import type { IdentityTable } from './identity-table.js';

/** Persisted state of an identity. Slots of content counts are minutes of the wall clock. */
export interface CachedIdentity {
  readonly key: string;
  readonly windows: readonly {
    readonly resourceIndex: number;
    readonly used: number;
    readonly resetSec: number;
  }[];
  readonly contentHour: readonly (readonly [slot: number, amount: number])[];
  readonly ban: { readonly untilMs: number; readonly level: number } | undefined;
}

/** Exports changed identities of a memory store as rows, and restores them. */
export class CachedIdentities {
  readonly #states: IdentityTable;
  readonly #time: SteadyTime;
  readonly #maxCount: number;
  #changed: IdentityState[] | undefined;

  /**
   * @param maxCount maximum number of identities waiting to be persisted. Beyond it, an identity is
   *   persisted after its next change.
   */
  constructor(states: IdentityTable, time: SteadyTime, maxCount: number) {
    this.#states = states;
    this.#time = time;
    this.#maxCount = maxCount;
  }

  /** Starts recording changes for `takeChanged`. */
  trackChanges(): void {
    this.#changed ??= [];
  }

  noteChange(state: IdentityState): void {
    if (state.isDirty || this.#changed === undefined) return;
    if (this.#changed.length >= this.#maxCount) return;
    state.isDirty = true;
    this.#changed.push(state);
  }

  /** Returns and removes identities that changed since the last call, at most `limit`. */
  takeChanged(limit: number): readonly CachedIdentity[] {
    return (this.#changed ?? []).splice(0, limit).map((state) => {
      state.isDirty = false;
      return this.#toKept(state);
    });
  }

  /** Restores persisted state without expired windows. Call before the first request. */
  restore(identity: CachedIdentity): void {
    const nowMs = this.#time.nowMs();
    const windows = identity.windows.filter(({ resetSec }) => resetSec * 1000 > nowMs);
    const hourSlot = this.#time.hourSlot(nowMs);
    const content = identity.contentHour.filter(
      ([slot]) => slot <= hourSlot && slot > hourSlot - 61,
    );
    const bannedUntilMs = identity.ban?.untilMs ?? 0;
    const isBanRemembered = nowMs - bannedUntilMs < BAN_MEMORY_MS;
    if (windows.length === 0 && content.length === 0 && !isBanRemembered) return;
    const state = this.#states.get(identity.key) ?? this.#states.open(identity.key);
    state.seenSec = wholeSec(nowMs);
    for (const { resourceIndex, used, resetSec } of windows) {
      if (state.openWindow(resourceIndex, used, resetSec)) this.#states.bucketCount += 1;
    }
    for (const [slot, amount] of content) {
      const extra = state.withExtra();
      extra.contentHour ??= new SlidingSum(slot);
      extra.contentHour.add(slot, amount);
    }
    if (identity.ban === undefined || !isBanRemembered) return;
    const extra = state.withExtra();
    extra.bannedUntilMs = bannedUntilMs;
    extra.lastBanMs = bannedUntilMs;
    extra.banLevel = identity.ban.level;
    if (bannedUntilMs > nowMs) this.#states.bannedKeys.add(identity.key);
  }

  #toKept(state: IdentityState): CachedIdentity {
    const windows: CachedIdentity['windows'][number][] = [];
    if (state.resourceIndex !== -1) {
      const { resourceIndex, used, resetSec } = state;
      windows.push({ resourceIndex, used, resetSec });
    }
    for (const [resourceIndex, { used, resetSec }] of state.extra?.windows ?? []) {
      windows.push({ resourceIndex, used, resetSec });
    }
    const slotOffset = Math.round(this.#time.offsetMs / this.#time.hourSlotMs);
    const entries = state.extra?.contentHour?.entries() ?? [];
    const { bannedUntilMs = 0, banLevel = 0 } = state.extra ?? {};
    return {
      key: state.key,
      windows,
      contentHour: entries.map(([slot, amount]) => [slot - slotOffset, amount]),
      ban:
        bannedUntilMs > 0
          ? { untilMs: bannedUntilMs - this.#time.offsetMs, level: banLevel }
          : undefined,
    };
  }
}
