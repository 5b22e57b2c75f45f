import type { Clock, Random } from '@plinth/kernel';

/** In the order of their bytes, so that comparing ids compares numbers. */
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Uniform over 62 letters: bytes that would favour the first ones are passed over. */
export function randomLetters(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      if (byte < 248 && text.length < length) text += LETTERS[byte % 62];
    }
  }
  return text;
}

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
    const digit = LETTERS.indexOf(last.charAt(index));
    if (digit < LETTERS.length - 1) {
      return last.slice(0, index) + LETTERS.charAt(digit + 1) + fresh.slice(index + 1);
    }
  }
  return last + fresh; // 62^9 objects in one instant: longer, still ascending, never met
}
