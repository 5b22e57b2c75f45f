import { EventLoopYielder } from '@plinth/kernel';

/**
 * Work over many rows, cut where it is resumed: it yields after about `STEP_ROWS` rows, so that others get their turn in
 * between. Callers with few rows run it through at once.
 */
export type Steps<T> = Generator<undefined, T, void>;

/** Far less than a turn takes, whatever is done with each row. */
export const STEP_ROWS = 2048;
/** Whether a loop that counts its rows has come to the end of a step. */
export const isStepEnd = (index: number): boolean => index % STEP_ROWS === STEP_ROWS - 1;

/** The same without a pause. */
export function runThrough<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Long enough to be worth the switch, short enough for others to wait for. */
const TURN_MS = 10;
/** Of work that makes way for others: a question crosses the event loop several times. */
const SHORT_TURN_MS = 1;

/** Of the thread: however many works are under way, each turn of its event loop waits for one of them. */
const TURNS = new EventLoopYielder();

/** Runs work to its end; others have their turns between its steps. Throws the reason of the signal when that is aborted. */
export class TimeSlicedTask {
  readonly #queryOwner: { readonly signal: AbortSignal } | undefined;
  readonly #giveWay: (() => Promise<void>) | undefined;
  #startMs = performance.now();

  /**
   * @param queryOwner its signal may be created when it is first read: work that ends soon does without.
   * @param giveWay of work in short turns: resolves when the next may come.
   */
  constructor(queryOwner?: { readonly signal: AbortSignal }, giveWay?: () => Promise<void>) {
    this.#queryOwner = queryOwner;
    this.#giveWay = giveWay;
  }

  /** Its end is such a place as well: small works are many. */
  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (this.isSliceOver) await this.#next();
      if (step.done) return step.value;
    }
  }

  /** A place where others may go first. */
  async take(): Promise<void> {
    if (this.isSliceOver) await this.#next();
  }

  /** Whether `take` would yield. Read it in loops where awaiting `take` costs more than the work. */
  get isSliceOver(): boolean {
    const turnMs = this.#giveWay === undefined ? TURN_MS : SHORT_TURN_MS;
    return performance.now() - this.#startMs >= turnMs;
  }

  async #next(): Promise<void> {
    await this.#giveWay?.();
    await TURNS.next();
    this.#queryOwner?.signal.throwIfAborted();
    this.#startMs = performance.now();
  }
}

/** The indices `[from, to)`. */
export function* indices(from: number, to: number): Steps<number[]> {
  const list: number[] = [];
  for (let i = from; i < to; i++) {
    if (isStepEnd(i)) yield;
    list.push(i);
  }
  return list;
}

/** Fills `into` with the items in an order of their indices. */
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

/** Sorts in steps: short runs first, which are merged then. The order of equal items stays. */
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
