import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Long work gives way to requests after this long. */
const SLICE_MS = 8;
/** How many entries pass between two looks at the clock. */
const LOOK_EVERY = 64;

/** Gives way now and then; called once per entry of a long loop. */
export class Slices {
  #startMs = performance.now();
  #count = 0;

  /** Await the result when there is one: most calls return nothing. */
  next(): Promise<void> | undefined {
    this.#count += 1;
    if (this.#count % LOOK_EVERY !== 0) return undefined;
    return this.check();
  }

  /** As `next`, for entries that take long themselves. */
  check(): Promise<void> | undefined {
    if (performance.now() - this.#startMs < SLICE_MS) return undefined;
    return nextTurn().then(() => {
      this.#startMs = performance.now();
    });
  }
}
