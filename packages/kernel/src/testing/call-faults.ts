import type { Random } from '../clock/random.js';

/** A planned failure: the `at`-th call of a kind from here on, and the following calls of that kind. */
export interface CallFault {
  /** `*` counts calls of all kinds together. */
  readonly kind: string;
  /** 1 is the next call. */
  readonly at?: number;
  /** The number of consecutive calls that fail; `Infinity` until `heal`. */
  readonly count?: number;
  /** `none`: the call fails without an effect. `done`: the call takes effect and then reports a failure. */
  readonly effect?: 'none' | 'done';
  /** The error, `CallFailed` by default: a full disk causes other errors than a defective one. */
  readonly error?: Error;
}

/** Random failures. */
export interface SomeFaults {
  /** The share of all calls that fail. */
  readonly share: number;
  readonly random: Random;
  /** Half of the failures of these kinds happen after the call took effect. */
  readonly doneKinds: readonly string[];
}

interface Waiting {
  readonly kind: string;
  readonly effect: 'none' | 'done';
  readonly error: Error | undefined;
  /** The number of calls before the first failure. */
  passing: number;
  failing: number;
}

/** The default error of a failed call. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly kind: string;
  constructor(kind: string, count: number) {
    super(`simulated failure of ${kind} call ${count}`);
    this.kind = kind;
  }
}

/**
 * Decides which calls fail. Wrappers of real stores (`failingObjectStore`, `failingRelationalStore`) or of DuckDB consult it
 * for each call. Calls are counted by kind, so a test can run once without faults, read `counts`, and run again for each
 * kind and each `at` up to the count.
 */
export class CallFaults {
  readonly #counts = new Map<string, number>();
  #waiting: Waiting[] = [];
  #some: SomeFaults | undefined;
  readonly #doomed = new Set<Promise<void>>();

  /** The number of calls of each kind so far, including failed ones. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** The number of planned failures that have not fully occurred yet. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  fail({ kind, at = 1, count = 1, effect = 'none', error }: CallFault): void {
    this.#waiting.push({ kind, effect, error, passing: at - 1, failing: count });
  }

  /** Starts random failures. */
  failSome(some: SomeFaults): void {
    this.#some = some;
  }

  /** Stops all failures. */
  heal(): void {
    this.#waiting = [];
    this.#some = undefined;
  }

  /** Stops all failures, and resolves when failures after an effect have been reported. */
  async healed(): Promise<void> {
    this.heal();
    while (this.#doomed.size > 0) await Promise.all(this.#doomed);
    await new Promise((resolve) => setImmediate(resolve)); // lets the callers handle the failures
  }

  async around<T>(kind: string, call: () => Promise<T>): Promise<T> {
    const failure = this.#next(kind);
    if (failure === undefined) return await call();
    if (failure.effect === 'none') throw failure.error;
    const done = call().finally(() => this.#doomed.delete(ended));
    const ended = done.then(
      () => undefined,
      () => undefined,
    );
    this.#doomed.add(ended);
    await done;
    throw failure.error;
  }

  /** For synchronous calls: throws when this one must fail. */
  before(kind: string): void {
    const failure = this.#next(kind);
    if (failure !== undefined) throw failure.error;
  }

  #next(kind: string): { readonly error: Error; readonly effect: 'none' | 'done' } | undefined {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    let first: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (waiting.kind !== kind && waiting.kind !== '*') continue;
      if (waiting.passing > 0) waiting.passing--;
      else {
        waiting.failing--;
        first ??= waiting;
      }
    }
    this.#waiting = this.#waiting.filter(({ failing }) => failing > 0);
    if (first === undefined) return this.#nextOfSome(kind, count);
    return { error: first.error ?? new CallFailed(kind, count), effect: first.effect };
  }
  #nextOfSome(
    kind: string,
    count: number,
  ): { readonly error: Error; readonly effect: 'none' | 'done' } | undefined {
    if (this.#some === undefined) return undefined;
    const { share, random, doneKinds } = this.#some;
    if (random.float() >= share) return undefined;
    const isDone = doneKinds.includes(kind) && random.float() < 0.5;
    return { error: new CallFailed(kind, count), effect: isDone ? 'done' : 'none' };
  }
}
