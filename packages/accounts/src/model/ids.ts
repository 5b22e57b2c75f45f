import { BASE62, type Clock, type Random, randomLetters } from '@plinth/kernel';

/** Maximum time in milliseconds by which `createdMs` may be ahead of the clock to stay unique. */
const MAX_LEAD_MS = 100;

/**
 * Generates timestamps and ids for one kind of object. Timestamps increase strictly while they are
 * within a tenth of a second of the clock. Under higher load, objects share a timestamp and their
 * ids ascend, so (created, id) always reflects the order of creation.
 */
export class IdGenerator {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #length: number;
  #lastMs = 0;
  #lastLetters = '';

  /** @param length number of characters of an id after its prefix. */
  constructor(deps: { readonly clock: Clock; readonly random: Random; readonly length: number }) {
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#length = deps.length;
  }

  next(): { readonly createdMs: number; readonly letters: string } {
    const nowMs = this.#clock.nowMs();
    const letters = randomLetters(this.#random, this.#length);
    if (this.#lastMs < nowMs + MAX_LEAD_MS) {
      this.#lastMs = Math.max(nowMs, this.#lastMs + 1);
      this.#lastLetters = letters;
    } else this.#lastLetters = ascending(this.#lastLetters, letters);
    return { createdMs: this.#lastMs, letters: this.#lastLetters };
  }
}

/** Returns an id greater than `last` that keeps at least half of the randomness. */
function ascending(last: string, fresh: string): string {
  if (fresh > last) return fresh;
  const half = last.length >> 1;
  for (let index = half; index >= 0; index--) {
    const digit = BASE62.indexOf(last.charAt(index));
    if (digit < BASE62.length - 1) {
      return last.slice(0, index) + BASE62.charAt(digit + 1) + fresh.slice(index + 1);
    }
  }
  return last + fresh; // After 62^9 objects per instant, the id becomes longer but is still greater.
}
