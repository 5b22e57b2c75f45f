import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { type Steps, sorted } from '@plinth/tsdb-model/time-sliced-task.js';
import type { ShowClauses } from '../ast/statements.js';
import { Heap } from './heap.js';

/** Maximum number of rows for which a heap is used; for more, all rows are sorted. */
const MAX_PICKED = 10_000;

/**
 * Returns the number of rows that LIMIT and OFFSET require. `undefined` means all, or too many to
 * select with a heap.
 */
export function pickedCount({
  limit,
  offset = 0,
}: Pick<ShowClauses, 'limit' | 'offset'>): number | undefined {
  const count = limit === undefined || limit === 0 ? Number.POSITIVE_INFINITY : offset + limit;
  return count <= MAX_PICKED ? count : undefined;
}

/** Keeps the first of many distinct strings in byte order, and only those. */
export class SmallestTexts {
  readonly #count: number;
  /** The greatest string is at the top. */
  readonly #heap = new Heap<string>((a, b) => compareByteOrder(a, b) > 0);
  readonly #texts = new Set<string>();
  #characters = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** Total length of the kept strings. */
  get characters(): number {
    return this.#characters;
  }

  add(text: string): void {
    const { top } = this.#heap;
    const isFull = this.#heap.size === this.#count;
    if (isFull && top !== undefined && compareByteOrder(text, top) >= 0) return;
    if (this.#texts.has(text)) return;
    this.#texts.add(text);
    this.#characters += text.length;
    if (!isFull || top === undefined) this.#heap.push(text);
    else {
      this.#texts.delete(top);
      this.#characters -= top.length;
      this.#heap.replaceTop(text);
    }
  }

  /** Returns the strings, ascending. */
  *sorted(): Steps<readonly string[]> {
    return yield* sorted(this.#heap.items, compareByteOrder);
  }
}
