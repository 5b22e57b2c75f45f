import { EventLoopYielder } from '@plinth/kernel';

/**
 * Work over many rows that yields about every `STEP_ROWS` rows, so that other work can run in
 * between. Callers with few rows run it without pauses.
 */
export type Steps<T> = Generator<undefined, T, void>;

/**
 * Number of rows per step. A step takes far less time than the interval between two yields, regardless of the work per
 * row.
 */
export const STEP_ROWS = 2048;
/** Returns whether a loop that counts its rows has reached the end of a step. */
export const isStepEnd = (index: number): boolean => index % STEP_ROWS === STEP_ROWS - 1;

/** Runs all steps without pauses. */
export function runThrough<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Time between two yields, which is long enough to justify the switch and short enough for waiting requests. */
const YIELD_INTERVAL_MS = 10;
/**
 * Time between two yields of work with a `pause` function. A request crosses the event loop several
 * times, so the intervals are short.
 */
const SHORT_YIELD_INTERVAL_MS = 1;

/** Shared by the thread: each event-loop tick resumes one task, regardless of their number. */
const YIELDER = new EventLoopYielder();

/**
 * Runs work to completion and yields to the event loop between its steps. Throws the abort reason
 * of the signal.
 */
export class TimeSlicedTask {
  readonly #queryContext: { readonly signal: AbortSignal } | undefined;
  readonly #pause: (() => Promise<void>) | undefined;
  #startMs = performance.now();

  /**
   * @param queryContext its signal may be created on first read, because short work does not need it.
   * @param pause awaited at each yield, which it makes frequent; resolves when work may continue.
   */
  constructor(queryContext?: { readonly signal: AbortSignal }, pause?: () => Promise<void>) {
    this.#queryContext = queryContext;
    this.#pause = pause;
  }

  /** Yields after the last step as well, because many short tasks add up. */
  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (this.isYieldDue) await this.#yield();
      if (step.done) return step.value;
    }
  }

  /** Yields to the event loop if the last yield was long enough ago. */
  async yieldIfDue(): Promise<void> {
    if (this.isYieldDue) await this.#yield();
  }

  /** Whether to yield now. For loops in which awaiting `yieldIfDue` costs more than the work. */
  get isYieldDue(): boolean {
    const intervalMs = this.#pause === undefined ? YIELD_INTERVAL_MS : SHORT_YIELD_INTERVAL_MS;
    return performance.now() - this.#startMs >= intervalMs;
  }

  async #yield(): Promise<void> {
    await this.#pause?.();
    await YIELDER.next();
    this.#queryContext?.signal.throwIfAborted();
    this.#startMs = performance.now();
  }
}

/** Returns the indexes `[from, to)`. */
export function* indices(from: number, to: number): Steps<number[]> {
  const list: number[] = [];
  for (let i = from; i < to; i++) {
    if (isStepEnd(i)) yield;
    list.push(i);
  }
  return list;
}

/** Fills `into` with the items in the given order of indexes. */
export function* inOrder<T, Into extends { [index: number]: T }>(
  items: ArrayLike<T>,
  order: readonly number[],
  into: Into,
): Steps<Into> {
  for (let i = 0; i < order.length; i++) {
    if (isStepEnd(i)) yield;
    into[i] = items[order[i] as number] as Into[number]; // below both lengths
  }
  return into;
}

/** Sorts in steps: sorts short runs, then merges them. The sort is stable. */
export function* sorted<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += RUN_ITEMS) {
    runs.push(items.slice(from, from + RUN_ITEMS).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [a, b] = [runs[i] ?? [], runs[i + 1]];
      merged.push(b === undefined ? a : yield* mergedRuns(a, b, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

const RUN_ITEMS = 4096;

function* mergedRuns<T>(
  a: readonly T[],
  b: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const out: T[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i] as T; // both below their lengths
    const right = b[j] as T;
    if (compare(left, right) <= 0) {
      out.push(left);
      i++;
    } else {
      out.push(right);
      j++;
    }
    if (out.length % STEP_ROWS === 0) yield;
  }
  for (; i < a.length; i++) out.push(a[i] as T);
  for (; j < b.length; j++) out.push(b[j] as T);
  return out;
}
