import type { Clock } from '../clock/clock.js';
import { invariant } from '../errors/invariant.js';
import { storeError } from './relational-errors.js';
import type { WorkerChannel } from './sqlite/worker-channel.js';
import type { QueryAnswer, SqlValue } from './sqlite/worker-protocol.js';

export interface GroupLimits {
  /** Transactions that share one commit. */
  readonly maxGroupCount: number;
  /** After this time no further transaction joins the group. */
  readonly maxGroupMs: number;
  /** Transactions that may wait for their turn; the next is refused. */
  readonly maxWaitingCount: number;
  /** A transaction that takes longer is rolled back, because everybody else waits for it. */
  readonly maxTransactionMs: number;
}

interface Deferred<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Gives transactions their turn, one after the other. All that wait at the same time run in one group, which is
 * committed and synced once; each of them ends when that has happened. While a group is being committed, the next
 * one gathers, so groups grow with the load and a lone writer never waits for company.
 */
export class GroupCommit {
  readonly #channel: WorkerChannel;
  readonly #clock: Clock;
  readonly #limits: GroupLimits;
  readonly #queue: Deferred<ExclusiveTransaction>[] = [];
  #state: 'idle' | 'running' | 'committing' = 'idle';
  #active: ExclusiveTransaction | undefined;
  #members: Deferred<void>[] = [];
  #groupStartedMs = 0;
  #whenIdle: (() => void)[] = [];

  constructor(channel: WorkerChannel, clock: Clock, limits: GroupLimits) {
    this.#channel = channel;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Resolves when it is this transaction's turn. The turn must be ended by `commit` or `rollback`. */
  async enter(): Promise<ExclusiveTransaction> {
    if (this.#channel.brokenBy !== undefined) throw this.#channel.brokenBy;
    const limit = this.#limits.maxWaitingCount;
    if (this.#queue.length >= limit) throw storeError('store_overloaded', limit);
    return await new Promise((resolve, reject) => {
      this.#queue.push({ resolve, reject });
      if (this.#state === 'idle') this.#startGroup();
    });
  }

  /** Rolls back the transaction whose turn it is when it has taken too long. */
  expire(): void {
    const active = this.#active;
    const limitMs = this.#limits.maxTransactionMs;
    if (active === undefined || this.#clock.monotonicMs() - active.startedMs <= limitMs) return;
    active.abort(storeError('transaction_timed_out', limitMs));
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    if (this.#state === 'idle') return;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  #startGroup(): void {
    this.#state = 'running';
    this.#groupStartedMs = this.#clock.monotonicMs();
    this.#channel.send({ op: 'open_group' });
    this.#startNext();
  }

  #startNext(): void {
    const next = this.#queue.shift();
    invariant(next !== undefined, 'a turn begins only when somebody waits');
    const turn = new ExclusiveTransaction(this.#channel, this.#clock.monotonicMs(), (outcome) =>
      this.#end(turn, outcome),
    );
    this.#active = turn;
    next.resolve(turn);
  }

  #end(turn: ExclusiveTransaction, outcome: Deferred<void>): void {
    invariant(this.#active === turn, 'only the active transaction can end');
    this.#active = undefined;
    this.#members.push(outcome);
    if (this.#hasRoom()) this.#startNext();
    else void this.#commit();
  }

  #hasRoom(): boolean {
    return (
      this.#queue.length > 0 &&
      this.#members.length < this.#limits.maxGroupCount &&
      this.#clock.monotonicMs() - this.#groupStartedMs < this.#limits.maxGroupMs &&
      this.#channel.brokenBy === undefined
    );
  }

  async #commit(): Promise<void> {
    this.#state = 'committing';
    const members = this.#members;
    this.#members = [];
    try {
      await this.#channel.commitGroup();
      for (const { resolve } of members) resolve();
    } catch (error) {
      for (const { reject } of members) reject(error as Error); // the channel rejects with its own classes only
    }
    const broken = this.#channel.brokenBy;
    if (broken !== undefined) for (const { reject } of this.#queue.splice(0)) reject(broken);
    if (this.#queue.length > 0) {
      this.#startGroup();
      return;
    }
    this.#state = 'idle';
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

/** One transaction while it is its turn. */
export class ExclusiveTransaction {
  readonly startedMs: number;
  readonly #channel: WorkerChannel;
  readonly #end: (outcome: Deferred<void>) => void;
  readonly #unawaited: Promise<unknown>[] = [];
  #outcome: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(channel: WorkerChannel, startedMs: number, end: (outcome: Deferred<void>) => void) {
    this.#channel = channel;
    this.startedMs = startedMs;
    this.#end = end;
    channel.send({ op: 'begin' });
  }

  async query(sql: string, parameters: readonly SqlValue[]): Promise<QueryAnswer | undefined> {
    this.#throwIfFailed();
    invariant(this.#outcome === undefined, 'no statement after the end of its transaction');
    try {
      return await this.#channel.query('writer', sql, parameters);
    } catch (error) {
      this.#failure ??= error as Error; // the channel rejects with its own classes only
      throw error;
    }
  }

  /** Nobody waits for its answer: when it fails, so does the transaction. */
  run(sql: string, parameters: readonly SqlValue[]): void {
    // Noted as the failure of the transaction.
    this.#unawaited.push(this.query(sql, parameters).catch(() => undefined));
  }

  /** Resolves when the changes are on stable storage. */
  async commit(): Promise<void> {
    if (this.#unawaited.length > 0) await Promise.all(this.#unawaited);
    if (this.#failure === undefined) return await this.#finish('keep');
    await this.rollback();
    this.#throwIfFailed();
  }

  /**
   * Harmless after the end. Resolves with the group, too: why this one gave up may rest on what it saw of others
   * in the group, so nobody may learn of it before that is on stable storage.
   */
  async rollback(): Promise<void> {
    await (this.#outcome ?? this.#finish('undo'));
  }

  abort(why: Error): void {
    this.#failure = why;
    // Whoever holds this turn hears of `why` first and asks for the outcome then.
    this.rollback().catch(() => {});
  }

  async #finish(op: 'keep' | 'undo'): Promise<void> {
    this.#channel.send({ op });
    this.#outcome = new Promise<void>((resolve, reject) => {
      this.#end({ resolve, reject });
    });
    await this.#outcome;
  }

  #throwIfFailed(): void {
    const failure = this.#failure;
    if (failure === undefined) return;
    throw storeError.is(failure, 'transaction_timed_out')
      ? failure
      : storeError('transaction_aborted', undefined, failure);
  }
}
