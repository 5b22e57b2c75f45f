import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventLoopYielder, ServerBusy } from '@plinth/kernel';

/** Long work gives way to requests after this long. */
const SLICE_MS = 8;
/** How many entries pass between two looks at the clock. */
const LOOK_EVERY = 64;

/** Whose turn it is among those who do long work, and until when the work is wanted. */
export interface Pace {
  readonly turns: EventLoopYielder;
  /** Aborted: nobody waits for it any more. */
  readonly signal: AbortSignal | undefined;
}

/** Gives way now and then; called once per entry of a long loop. */
export class Slices {
  readonly #pace: Pace | undefined;
  #startMs = performance.now();
  #count = 0;

  /** @param pace of work for a client; without it only requests get their turn in between, and no other work of this kind. */
  constructor(pace?: Pace) {
    this.#pace = pace;
  }

  /** Await the result when there is one: most calls return nothing. */
  next(): Promise<void> | undefined {
    this.#count += 1;
    if (this.#count % LOOK_EVERY !== 0) return undefined;
    return this.check();
  }

  /** Throws where nobody waits for the work any more; nobody is told. */
  assertWanted(): void {
    if (this.#pace?.signal?.aborted) throw new ServerBusy('nobody waits for this any more');
  }

  /** As `next`, for entries that take long themselves. */
  check(): Promise<void> | undefined {
    if (performance.now() - this.#startMs < SLICE_MS) return undefined;
    return (this.#pace?.turns.next() ?? nextTurn()).then(() => {
      this.assertWanted();
      this.#startMs = performance.now();
    });
  }
}
