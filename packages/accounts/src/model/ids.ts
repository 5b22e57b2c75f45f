import { BASE62, type Clock, type Random, randomLetters } from '@plinth/kernel';

/** Milliseconds that `createdMs` may run ahead of the clock to stay unique. */
const MAX_LEAD_MS = 100;

/**
 * Instants and ids of one kind of object. The instant grows strictly as long as it stays within a tenth of a second
 * of the clock; under more load than that objects share an instant, and their ids ascend. So (created, id) is
 * always the order of creation.
 */
export class CreationOrder {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #length: number;
  #lastMs = 0;
  #lastLetters = '';

  /** @param length letters of an id behind its prefix. */
  constructor(needs: { readonly clock: Clock; readonly random: Random; readonly length: number }) {
    this.#clock = needs.clock;
    this.#random = needs.random;
    this.#length = needs.length;
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

/** Later than `last`, and as hard to guess as half of its letters are. */
function ascending(last: string, fresh: string): string {
  if (fresh > last) return fresh;
  const half = last.length >> 1;
  for (let index = half; index >= 0; index--) {
    const digit = BASE62.indexOf(last.charAt(index));
    if (digit < BASE62.length - 1) {
      return last.slice(0, index) + BASE62.charAt(digit + 1) + fresh.slice(index + 1);
    }
  }
  return last + fresh; // 62^9 objects in one instant: longer, still ascending, never met
}
