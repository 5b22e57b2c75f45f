import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { type EventLoopYielder, ServerBusy } from '@plinth/kernel';

/** Long tasks yield to requests after this time. */
const SLICE_MS = 8;
/** Number of entries between two clock readings. */
const LOOK_EVERY = 64;

/** Yielder shared by all long tasks, and the signal that cancels this one. */
export interface Pace {
  readonly yielder: EventLoopYielder;
  /** Aborted when the client no longer waits for the result. */
  readonly signal: AbortSignal | undefined;
}

/** Splits a long loop into time slices. Call `next` once per entry. */
export class TimeSlices {
  readonly #pace: Pace | undefined;
  #startMs = performance.now();
  #count = 0;

  /**
   * @param pace for work on behalf of a client; without it, the loop yields to requests, but not to
   *   other long tasks.
   */
  constructor(pace?: Pace) {
    this.#pace = pace;
  }

  /** Await the result if there is one; most calls return `undefined`. */
  next(): Promise<void> | undefined {
    this.#count += 1;
    if (this.#count % LOOK_EVERY !== 0) return undefined;
    return this.check();
  }

  /** Throws `ServerBusy` if the client has disconnected. No response is sent then. */
  assertWanted(): void {
    if (this.#pace?.signal?.aborted) throw new ServerBusy('the client has disconnected');
  }

  /** Like `next`, for entries that each take a long time. */
  check(): Promise<void> | undefined {
    if (performance.now() - this.#startMs < SLICE_MS) return undefined;
    return (this.#pace?.yielder.next() ?? setImmediate()).then(() => {
      this.assertWanted();
      this.#startMs = performance.now();
    });
  }
}
