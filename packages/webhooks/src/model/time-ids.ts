/** Start of 2025 in UTC, in Unix milliseconds. */
const EPOCH_MS = 1_735_689_600_000;
const IDS_PER_MS = 4096;
const IDS_PER_NODE = 128;

/**
 * Generates increasing ids below 2^53: milliseconds since 2025 times 4096, with five bits for the
 * node and seven for a counter.
 * Ids increase even if the clock steps back. Source: webhooks, section 6.2.
 */
export class TimeIds {
  readonly #node: number;
  #last: number;

  /** @param last the greatest existing id. */
  constructor(last: number, node = 0) {
    this.#last = last;
    this.#node = node;
  }

  next(nowMs: number): number {
    const fresh = idAt(nowMs) + this.#node * IDS_PER_NODE;
    if (fresh > this.#last) this.#last = fresh;
    else {
      this.#last += 1;
      // The counter overflowed, so an id of the next millisecond is used.
      if (this.#last % IDS_PER_NODE === 0) this.#last += IDS_PER_MS - IDS_PER_NODE;
    }
    return this.#last;
  }
}

/** Returns the smallest id of this millisecond. */
export function idAt(nowMs: number): number {
  return (Math.floor(nowMs) - EPOCH_MS) * IDS_PER_MS;
}
