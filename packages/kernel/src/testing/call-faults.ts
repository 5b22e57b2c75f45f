import type { Random } from '../clock/random.js';

/** One failure to come: the `at`-th call of a kind from here on, and the calls of that kind behind it. */
export interface CallFault {
  /** `*`: calls of every kind, counted together. */
  readonly kind: string;
  /** 1 is the next call. */
  readonly at?: number;
  /** So many calls fail, one after the other; `Infinity`: until `heal`. */
  readonly count?: number;
  /** `none`: the call fails before it has changed anything. `done`: it does its work and then says that it failed. */
  readonly effect?: 'none' | 'done';
  /** What the call fails with, `CallFailed` unless given: a full disk fails otherwise than a broken one. */
  readonly error?: Error;
}

/** Calls that fail by chance. */
export interface SomeFaults {
  /** Of all calls. */
  readonly share: number;
  readonly random: Random;
  /** Calls of these kinds fail after they have done their work every second time. */
  readonly doneKinds: readonly string[];
}

interface Waiting {
  readonly kind: string;
  readonly effect: 'none' | 'done';
  readonly error: Error | undefined;
  /** Calls that pass before the first one fails. */
  passing: number;
  failing: number;
}

/** What a call fails with. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly kind: string;
  constructor(kind: string, count: number) {
    super(`simulated failure of call ${count} of ${kind}`);
    this.kind = kind;
  }
}

/**
 * Decides which calls fail: what stands around a real store (`failingObjectStore`, `failingRelationalStore`) or around the
 * calls of an engine asks it for each of them. Calls are counted by kind from the start, so that a test runs its work once
 * without a fault, reads `counts`, and runs it again for each kind and each `at` up to the count.
 */
export class CallFaults {
  readonly #counts = new Map<string, number>();
  #waiting: Waiting[] = [];
  #some: SomeFaults | undefined;
  readonly #doomed = new Set<Promise<void>>();

  /** Calls of each kind up to this moment, those that failed among them. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Failures that were asked for and are still to come, wholly or in part. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  fail({ kind, at = 1, count = 1, effect = 'none', error }: CallFault): void {
    this.#waiting.push({ kind, effect, error, passing: at - 1, failing: count });
  }

  /** Calls fail by chance from here on. */
  failSome(some: SomeFaults): void {
    this.#some = some;
  }

  /** Nothing fails from here on. */
  heal(): void {
    this.#waiting = [];
    this.#some = undefined;
  }

  /** Nothing fails from here on, and what was to fail behind its work has failed when it resolves. */
  async healed(): Promise<void> {
    this.heal();
    while (this.#doomed.size > 0) await Promise.all(this.#doomed);
    await new Promise((resolve) => setImmediate(resolve)); // Whoever waited for these has heard of it.
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

  /** For calls that end at once: throws when this one fails. */
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
