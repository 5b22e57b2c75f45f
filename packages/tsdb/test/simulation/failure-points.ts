import type { Random } from '@plinth/kernel';
import { type CallFault, LOG_CALLS, OBJECT_CALLS, RELATIONAL_CALLS } from '@plinth/kernel/testing';
import type { DuckDbCall } from '@plinth/tsdb-storage/duckdb/instance/duckdb-watch.js';

const ENGINE_CALLS: readonly DuckDbCall[] = [
  ...(['duckdb.write', 'duckdb.copy', 'duckdb.query'] as const),
  ...(['duckdb.fetch', 'duckdb.append', 'duckdb.flush'] as const),
];

/**
 * How a call fails. `done`: after its effect. `doubt`: like `done`, with an unknown outcome at
 * first. After `cut`, all calls fail and the process ends, which simulates a kill at this call.
 */
type Mode = 'once' | 'thrice' | 'done' | 'doubt' | 'full' | 'cut';

export interface FailurePoint extends CallFault {
  readonly mode: Mode;
}

/** DuckDB statements except COPY run in memory, and change nothing when they fail. */
export const DONE_KINDS: readonly string[] = [
  ...OBJECT_CALLS,
  ...LOG_CALLS,
  'relational.transaction',
  'duckdb.copy',
];

const MODES: readonly { readonly kind: string; readonly mode: Mode }[] = [
  ...[...OBJECT_CALLS, ...RELATIONAL_CALLS, ...LOG_CALLS, ...ENGINE_CALLS].flatMap((kind) =>
    (['once', 'thrice'] as const).map((mode) => ({ kind, mode })),
  ),
  ...DONE_KINDS.map((kind) => ({ kind, mode: 'done' as const })),
  { kind: 'relational.transaction', mode: 'doubt' },
  ...['log.open', 'log.write', 'log.sync', 'log.truncate', 'object.adopt'].map((kind) => ({
    kind,
    mode: 'full' as const,
  })),
  { kind: '*', mode: 'cut' },
];

/**
 * Fraction of steps that are disturbed again once every call has failed; many of these need a
 * restart.
 */
const AGAIN_SHARE = 0.04;
/** Calls of one kind in one step beyond this number count as equivalent. */
const MAX_AT = 200;

/**
 * Tracks which calls have failed in which kind of step: the k-th of every kind, in every mode. The
 * largest k is the number of calls observed in such a step.
 */
export class FailurePoints {
  readonly #seen = new Map<string, number>();
  readonly #failed = new Map<string, Set<number>>();

  /** Records the calls of a step. */
  noteCalls(step: string, calls: ReadonlyMap<string, number>): void {
    let sum = 0;
    for (const [kind, count] of calls) {
      sum += count;
      this.#raise(`${step} ${kind}`, count);
    }
    this.#raise(`${step} *`, sum);
  }

  #raise(key: string, count: number): void {
    this.#seen.set(key, Math.min(MAX_AT, Math.max(count, this.#seen.get(key) ?? 0)));
  }

  noteFailed(step: string, { kind, mode, at = 1 }: FailurePoint): void {
    const key = `${step} ${kind} ${mode}`;
    const failed = this.#failed.get(key) ?? new Set();
    this.#failed.set(key, failed.add(at));
  }

  /**
   * Chooses a call that has not failed yet in such a step, preferring new kinds and modes;
   * otherwise occasionally any call.
   */
  choose(step: string, random: Random): FailurePoint | undefined {
    const possible = MODES.filter(({ kind }) => (this.#seen.get(`${step} ${kind}`) ?? 0) > 0);
    const open = possible.filter((each) => this.#left(step, each).length > 0);
    if (open.length === 0 && random.float() >= AGAIN_SHARE) return undefined;
    const kinds = this.untouchedKinds();
    const from =
      [
        open.filter(({ kind, mode }) => kinds.includes(`${kind} ${mode}`)),
        open.filter(({ kind, mode }) => !this.#failed.has(`${step} ${kind} ${mode}`)),
        open,
      ].find((each) => each.length > 0) ?? possible;
    const chosen = from[Math.floor(random.float() * from.length)];
    if (chosen === undefined) return undefined;
    const left = this.#left(step, chosen);
    const at =
      left[Math.floor(random.float() * left.length)] ??
      1 + Math.floor(random.float() * (this.#seen.get(`${step} ${chosen.kind}`) ?? 1));
    return { ...chosen, ...FAULTS[chosen.mode](), at };
  }

  #left(step: string, { kind, mode }: { kind: string; mode: Mode }): number[] {
    const failed = this.#failed.get(`${step} ${kind} ${mode}`);
    const count = this.#seen.get(`${step} ${kind}`) ?? 0;
    return Array.from({ length: count }, (_, i) => i + 1).filter((at) => failed?.has(at) !== true);
  }

  get failedCount(): number {
    return [...this.#failed.values()].reduce((sum, each) => sum + each.size, 0);
  }

  /** Number of known calls that have not failed yet. */
  get leftCount(): number {
    return this.#steps().reduce(
      (sum, step) => sum + MODES.reduce((left, each) => left + this.#left(step, each).length, 0),
      0,
    );
  }

  /** Steps with calls that have not failed yet. */
  openSteps(): readonly string[] {
    return this.#steps().filter((step) => MODES.some((each) => this.#left(step, each).length > 0));
  }

  /** Kinds and modes in which no call has failed in any step. */
  untouchedKinds(): readonly string[] {
    const failed = new Set([...this.#failed.keys()].map((key) => key.slice(key.indexOf(' ') + 1)));
    return MODES.map(({ kind, mode }) => `${kind} ${mode}`).filter((key) => !failed.has(key));
  }

  #steps(): readonly string[] {
    return [...new Set([...this.#seen.keys()].map((key) => key.split(' ')[0] ?? ''))];
  }

  /** Steps, kinds and modes in which calls occur but none has failed. */
  untouched(): readonly string[] {
    return this.#steps().flatMap((step) =>
      MODES.filter(({ kind }) => (this.#seen.get(`${step} ${kind}`) ?? 0) > 0)
        .map(({ kind, mode }) => `${step} ${kind} ${mode}`)
        .filter((key) => !this.#failed.has(key)),
    );
  }
}

const FAULTS: Readonly<Record<Mode, () => Omit<CallFault, 'kind'>>> = {
  once: () => ({}),
  thrice: () => ({ count: 3 }),
  done: () => ({ effect: 'done' }),
  doubt: () => ({ effect: 'done' }),
  full: () => ({ error: Object.assign(new Error('simulated full disk'), { code: 'ENOSPC' }) }),
  cut: () => ({ count: Number.POSITIVE_INFINITY }),
};
