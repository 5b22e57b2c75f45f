import type { Clock } from '@plinth/kernel';
import type { LimitRules } from '../model/limit-store.js';
import { slotMsOf } from '../model/sliding-sum.js';

/** Position of a time in a window divided into slots. */
export interface SlotTime {
  readonly slot: number;
  readonly slotMs: number;
  /** Time since the start of slot 0. */
  readonly sinceMs: number;
}

/** The wall clock, and a steady clock that ignores backward steps of the wall clock. */
export class SteadyTime {
  readonly hourSlotMs: number;
  readonly #clock: Clock;
  readonly #minuteSlotMs: number;
  readonly #startMs: number;
  #lastMs: number;
  /** Sum of all backward steps of the wall clock. */
  #offsetMs = 0;

  constructor(clock: Clock, rules: LimitRules) {
    this.#clock = clock;
    this.#minuteSlotMs = slotMsOf(rules.minuteMs);
    this.hourSlotMs = slotMsOf(rules.hourMs);
    this.#startMs = clock.nowMs();
    this.#lastMs = this.#startMs;
  }

  /** Difference between the steady time and the wall clock. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Last reading of the wall clock. */
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

  /** Returns the minute slot, counted from the start of the process, so that it stays a small integer. */
  minuteSlot(steadyMs: number): number {
    return ((steadyMs - this.#startMs) / this.#minuteSlotMs) | 0;
  }

  minuteAt(steadyMs: number): SlotTime {
    const slot = this.minuteSlot(steadyMs);
    return { slot, slotMs: this.#minuteSlotMs, sinceMs: steadyMs - this.#startMs };
  }

  /** Returns the hour slot, counted from the epoch, because it is persisted. */
  hourSlot(steadyMs: number): number {
    return Math.floor(steadyMs / this.hourSlotMs);
  }

  hourAt(steadyMs: number): SlotTime {
    return { slot: this.hourSlot(steadyMs), slotMs: this.hourSlotMs, sinceMs: steadyMs };
  }
}

/** Converts milliseconds to seconds as an unsigned 32-bit integer, which needs no heap object; valid until 2106. */
export const wholeSec = (ms: number): number => (ms / 1000) >>> 0;
