import type { Clock } from '../clock/clock.js';
import { invariant } from '../errors/invariant.js';
import { storeError } from './relational-errors.js';
import type { WorkerChannel } from './sqlite/worker-channel.js';
import type { QueryResponse, SqlValue } from './sqlite/worker-protocol.js';

export interface GroupLimits {
  /** The maximum number of transactions that share one commit. */
  readonly maxGroupCount: number;
  /** After this time, no further transaction joins the group. */
  readonly maxGroupMs: number;
  /** The number of transactions that may wait; the next one is rejected. */
  readonly maxWaitingCount: number;
  /** A longer transaction is rolled back, because all others wait until it ends. */
  readonly maxTransactionMs: number;
}

interface Deferred<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs transactions one at a time. All waiting transactions form a group, which is committed and synced once; then
 * all of them resolve. The next group forms during the commit, so groups grow with the load, and a single writer
 * never waits for others.
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

  /** Resolves when this transaction may run. It must end with `commit` or `rollback`. */
  async enter(): Promise<ExclusiveTransaction> {
    if (this.#channel.brokenBy !== undefined) throw this.#channel.brokenBy;
    const limit = this.#limits.maxWaitingCount;
    if (this.#queue.length >= limit) throw storeError('store_overloaded', limit);
    return await new Promise((resolve, reject) => {
      this.#queue.push({ resolve, reject });
      if (this.#state === 'idle') this.#startGroup();
    });
  }

  /** Rolls back the active transaction when it has exceeded its time limit. */
  expire(): void {
    const active = this.#active;
    const limitMs = this.#limits.maxTransactionMs;
    if (active === undefined || this.#clock.monotonicMs() - active.startedMs <= limitMs) return;
    active.abort(storeError('transaction_timed_out', limitMs));
  }

  /** Resolves when no transaction is running or waiting. */
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
    invariant(next !== undefined, 'only a queued transaction can start');
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
      for (const { reject } of members) reject(error as Error); // the channel rejects only with its own error classes
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

/** The active transaction. */
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

  async query(sql: string, parameters: readonly SqlValue[]): Promise<QueryResponse | undefined> {
    this.#throwIfFailed();
    invariant(
      this.#outcome === undefined,
      'a statement must not run after its transaction has ended',
    );
    try {
      return await this.#channel.query('writer', sql, parameters);
    } catch (error) {
      this.#failure ??= error as Error; // the channel rejects only with its own error classes
      throw error;
    }
  }

  /** The reply is not awaited; a failure fails the transaction. */
  run(sql: string, parameters: readonly SqlValue[]): void {
    // The failure is recorded in the transaction.
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
   * Safe to call after the transaction has ended. Also resolves with the group: the reason for the rollback
   * may depend on other transactions of the group, so it must not be visible before their changes are
   * durable.
   */
  async rollback(): Promise<void> {
    await (this.#outcome ?? this.#finish('undo'));
  }

  abort(why: Error): void {
    this.#failure = why;
    // The owner of this transaction sees `why` first, and requests the outcome afterwards.
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
