import type { TimeRange } from '../time/time-range.js';

const MAX_COUNT = 16;

/**
 * The zooms into a chart whose points have not arrived yet. Each zoom starts from the latest of them. If the points of
 * an earlier zoom arrive in the meantime, they do not reset it.
 */
export class PendingRanges {
  #shown: TimeRange;
  #pending: TimeRange[] = [];

  constructor(shown: TimeRange) {
    this.#shown = shown;
  }

  get last(): TimeRange {
    return this.#pending.at(-1) ?? this.#shown;
  }

  add(range: TimeRange): void {
    this.#pending = [...this.#pending, range].slice(-MAX_COUNT);
  }

  /**
   * Called when the points of `range` are drawn. A range that is not pending was chosen elsewhere, so all pending
   * ranges are dropped.
   */
  show(range: TimeRange): void {
    this.#shown = range;
    const index = this.#pending.findIndex((pending) => isSame(pending, range));
    this.#pending = index === -1 ? [] : this.#pending.slice(index + 1);
  }

  clear(): void {
    this.#pending = [];
  }
}

/** Times in a URL have no fractions of a millisecond. */
const isSame = (one: TimeRange, other: TimeRange): boolean =>
  Math.abs(one.fromMs - other.fromMs) <= 1 && Math.abs(one.toMs - other.toMs) <= 1;
