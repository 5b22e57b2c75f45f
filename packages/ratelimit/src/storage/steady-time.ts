import type { Clock } from '@plinth/kernel';
import type { LimitRules } from '../model/limit-store.js';
import { slotMsOf } from '../model/sliding-sum.js';

/** Where a moment lies in a window that is cut into slots. */
export interface SlotTime {
  readonly slot: number;
  readonly slotMs: number;
  /** From the beginning of slot 0. */
  readonly sinceMs: number;
}

/** The wall clock, and beside it one that steps backwards of the wall clock do not turn back. */
export class SteadyTime {
  readonly hourSlotMs: number;
  readonly #clock: Clock;
  readonly #minuteSlotMs: number;
  readonly #startMs: number;
  #lastMs: number;
  /** Steps backwards of the wall clock, added up. */
  #offsetMs = 0;

  constructor(clock: Clock, rules: LimitRules) {
    this.#clock = clock;
    this.#minuteSlotMs = slotMsOf(rules.minuteMs);
    this.hourSlotMs = slotMsOf(rules.hourMs);
    this.#startMs = clock.nowMs();
    this.#lastMs = this.#startMs;
  }

  /** By how much the steady time is ahead of the wall clock. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** The wall clock when it was last looked at. */
  get lastMs(): number {
    return this.#lastMs;
  }

  nowMs(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#lastMs) this.#offsetMs += this.#lastMs - nowMs;
    this.#lastMs = nowMs;
    return nowMs;
  }

  steadyMs(): number {
    return this.nowMs() + this.#offsetMs;
  }

  /** Counted from the start, so that it stays a small integer. */
  minuteSlot(steadyMs: number): number {
    return ((steadyMs - this.#startMs) / this.#minuteSlotMs) | 0;
  }

  minuteAt(steadyMs: number): SlotTime {
    const slot = this.minuteSlot(steadyMs);
    return { slot, slotMs: this.#minuteSlotMs, sinceMs: steadyMs - this.#startMs };
  }

  /** Counted from the beginning of the epoch, because it outlives the process. */
  hourSlot(steadyMs: number): number {
    return Math.floor(steadyMs / this.hourSlotMs);
  }

  hourAt(steadyMs: number): SlotTime {
    return { slot: this.hourSlot(steadyMs), slotMs: this.hourSlotMs, sinceMs: steadyMs };
  }
}

/** As an integer that needs no object of its own; good until the year 2106. */
export const wholeSec = (ms: number): number => (ms / 1000) >>> 0;
