/** Slots that a window is cut into. */
export const SLOT_COUNT = 60;
/** One more than the window has, so that what the window covers in part is counted whole: never too much passes. */
const RING_SIZE = SLOT_COUNT + 1;

/** Length of one slot of a window. */
export const slotMsOf = (windowMs: number): number => windowMs / SLOT_COUNT;

/** Slots that still count when `slot` is the current one: those after the returned one. */
export const lastForgottenSlot = (slot: number): number => slot - RING_SIZE;

/** A sum over the last window. All amounts are whole; slots never run backwards. */
export class SlidingSum {
  readonly #ring = new Uint32Array(RING_SIZE);
  #head: number;
  #total = 0;

  constructor(slot: number) {
    this.#head = slot;
  }

  /** What counts at `slot`. */
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
   * How many slots must begin until at most `allowed` is counted.
   * @returns at least 1 when more is counted; one past the ring when `allowed` is negative.
   */
  slotsUntil(slot: number, allowed: number): number {
    let left = this.at(slot);
    for (let waited = 0; waited < RING_SIZE; waited += 1) {
      if (left <= allowed) return waited;
      // The oldest slot is the one after the head.
      left -= this.#ring[(this.#head + 1 + waited) % RING_SIZE] ?? 0;
    }
    return RING_SIZE;
  }

  /** Slots that hold something, oldest first, for keeping them. */
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
