/**
 * Number of slots per window. Slots in this file are equal parts of a time window. Different: the slots of
 * concurrent requests (`LimitStore.releaseSlot`).
 */
export const SLOT_COUNT = 60;
/**
 * One slot more than the window, so that a partly covered slot counts completely. The sum is
 * therefore never too small.
 */
const RING_SIZE = SLOT_COUNT + 1;

/** Returns the length of one slot of a window. */
export const slotMsOf = (windowMs: number): number => windowMs / SLOT_COUNT;

/** Returns the newest slot that no longer counts when `slot` is the current one. */
export const lastForgottenSlot = (slot: number): number => slot - RING_SIZE;

/** A sum over the last window. Amounts are integers, and slot numbers never decrease. */
export class SlidingSum {
  readonly #ring = new Uint32Array(RING_SIZE);
  #head: number;
  #total = 0;

  constructor(slot: number) {
    this.#head = slot;
  }

  /** Returns the sum at `slot`. */
  at(slot: number): number {
    if (slot > this.#head) this.#advance(slot);
    return this.#total;
  }

  add(slot: number, amount: number): void {
    if (slot > this.#head) this.#advance(slot);
    const index = this.#head % RING_SIZE;
    this.#ring[index] = (this.#ring[index] ?? 0) + amount;
    this.#total += amount;
  }

  /**
   * Returns the number of slots until the sum is at most `allowed`.
   * @returns 0 if it already is; `RING_SIZE` when `allowed` is negative.
   */
  slotsUntil(slot: number, allowed: number): number {
    let left = this.at(slot);
    for (let waited = 0; waited < RING_SIZE; waited += 1) {
      if (left <= allowed) return waited;
      // The oldest slot follows the head.
      left -= this.#ring[(this.#head + 1 + waited) % RING_SIZE] ?? 0;
    }
    return RING_SIZE;
  }

  /** Returns the slots with an amount, oldest first, for persistence. */
  entries(): readonly (readonly [slot: number, amount: number])[] {
    const found: (readonly [number, number])[] = [];
    for (let slot = this.#head - SLOT_COUNT; slot <= this.#head; slot += 1) {
      const amount = slot < 0 ? 0 : (this.#ring[slot % RING_SIZE] ?? 0);
      if (amount > 0) found.push([slot, amount]);
    }
    return found;
  }

  #advance(slot: number): void {
    if (slot - this.#head >= RING_SIZE) {
      this.#ring.fill(0);
      this.#total = 0;
      this.#head = slot;
      return;
    }
    while (this.#head < slot) {
      this.#head += 1;
      const index = this.#head % RING_SIZE;
      this.#total -= this.#ring[index] ?? 0;
      this.#ring[index] = 0;
    }
  }
}
