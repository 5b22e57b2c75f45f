import { compareByteOrder } from '../../../model/byte-order.js';
import { type Steps, sorted } from '../../../model/time-sliced-task.js';
import type { ShowClauses } from '../ast/statements.js';
import { Heap } from './heap.js';

/** More rows than this are sorted with all others. */
const MAX_PICKED = 10_000;

/** How many rows LIMIT and OFFSET leave to be found; `undefined`: all, or too many to pick them from the others. */
export function pickedCount({
  limit,
  offset = 0,
}: Pick<ShowClauses, 'limit' | 'offset'>): number | undefined {
  const count = limit === undefined || limit === 0 ? Number.POSITIVE_INFINITY : offset + limit;
  return count <= MAX_PICKED ? count : undefined;
}

/** The first of many texts in the order of their bytes, each once; no more than these are held. */
export class SmallestTexts {
  readonly #count: number;
  /** The last of them is at its top. */
  readonly #heap = new Heap<string>((a, b) => compareByteOrder(a, b) > 0);
  readonly #held = new Set<string>();
  #characters = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** Of all that are held. */
  get characters(): number {
    return this.#characters;
  }

  add(text: string): void {
    const { top } = this.#heap;
    const isFull = this.#heap.size === this.#count;
    if (isFull && top !== undefined && compareByteOrder(text, top) >= 0) return;
    if (this.#held.has(text)) return;
    this.#held.add(text);
    this.#characters += text.length;
    if (!isFull || top === undefined) this.#heap.push(text);
    else {
      this.#held.delete(top);
      this.#characters -= top.length;
      this.#heap.replaceTop(text);
    }
  }

  /** Ascending. */
  *sorted(): Steps<readonly string[]> {
    return yield* sorted(this.#heap.items, compareByteOrder);
  }
}
