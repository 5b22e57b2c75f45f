import type { Clock } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import type { EditionStore } from '../../storage/edition-store.js';
import { ConcurrentChange, type Ledger, type SerializedWrite } from '../ledger.js';
import type { Library } from '../library.js';
import type { Draft } from './draft.js';
import type { DecidedChange, EditRequest } from './edit-request.js';

/** A change fails after losing this many races against other nodes. */
const MAX_ATTEMPT_COUNT = 10;
/** Interval between attempts to read corrupt data. */
const DAMAGE_RETRY_MS = 5000;

/**
 * Serializes the changes of all nodes. Each change is decided on the state that is stored at that
 * time, regardless of which node stored it.
 * A node that does not share a store uses its own state.
 */
export class SerializedWrites {
  readonly #ledger: Ledger;
  readonly #library: Library;
  readonly #draft: Draft;
  readonly #editions: EditionStore;
  readonly #clock: Clock;
  #readMs: number;
  /** Start of a change by this node that delays reading; `undefined` if there is none. */
  #heldMs: number | undefined;
  #reloadedMs: number;

  constructor(deps: {
    readonly ledger: Ledger;
    readonly library: Library;
    readonly draft: Draft;
    readonly editions: EditionStore;
    readonly clock: Clock;
  }) {
    this.#ledger = deps.ledger;
    this.#library = deps.library;
    this.#draft = deps.draft;
    this.#editions = deps.editions;
    this.#clock = deps.clock;
    this.#readMs = this.#clock.monotonicMs();
    this.#reloadedMs = this.#readMs;
  }

  /**
   * Time for which changes of other nodes could not be read; 0 without a shared store. A change of this
   * node does not count as lag.
   */
  get behindMs(): number {
    if (!this.#editions.isShared) return 0;
    return Math.max(0, (this.#heldMs ?? this.#clock.monotonicMs()) - this.#readMs);
  }

  /** Reads all stored state. */
  async load(): Promise<void> {
    await this.#ledger.exclusive(() => this.#reload());
  }

  /** Reads the changes of other nodes. */
  async follow(): Promise<void> {
    await this.#ledger.exclusive(() => this.#catchUp());
  }

  /**
   * Changes records within one transaction, without waiting for anything else. Throws
   * `unavailable`.
   */
  async changeRecord<T>(
    editRequest: EditRequest,
    decide: (write: SerializedWrite) => Promise<DecidedChange<T>>,
  ): Promise<T> {
    return await this.#ledger.exclusive(() =>
      this.#withRetries(() => this.#decideInTransaction(editRequest, decide)),
    );
  }

  /**
   * Changes the base of drafts. The work may take a long time before `Ledger.moveBase` stores it,
   * and is repeated if another node was faster. Throws `unavailable`.
   */
  async changeBase<T>(editRequest: EditRequest, work: () => Promise<T>): Promise<T> {
    return await this.#ledger.exclusive(async () => {
      const result = await this.#withRetries(async () => {
        await this.#catchUp();
        await editRequest.refuseRepeated?.();
        return await this.#withoutLag(work);
      });
      // Reload the draft as every other node reads it. If that fails, the stored change remains
      // valid.
      if (this.#editions.isShared) await this.#reload().catch(() => this.#ledger.invalidate());
      return result;
    });
  }

  /**
   * Like `changeBase`, for work that cannot be repeated. Throws `conflict` if another node was faster.
   */
  async changeBaseOnce<T>(editRequest: EditRequest, work: () => Promise<T>): Promise<T> {
    return await this.#ledger.exclusive(async () => {
      await this.#catchUp();
      await editRequest.refuseRepeated?.();
      try {
        return await this.#withoutLag(work);
      } catch (error) {
        if (!(error instanceof ConcurrentChange)) throw error;
        throw gameDataError('conflict', {
          message:
            'the game data was changed through another node, so nothing was stored; retry the request',
        });
      }
    });
  }

  /** Reserves a number for a change that is stored later. Call only inside `changeBaseOnce`. */
  async reserveSeq(editRequest: EditRequest): Promise<number> {
    return await this.#withRetries(() =>
      this.#decideInTransaction({ actor: editRequest.actor }, async ({ seq }) => ({ result: seq })),
    );
  }

  /** Runs `work`, whose duration does not count as lag (`behindMs`). */
  async #withoutLag<T>(work: () => Promise<T>): Promise<T> {
    const startMs = this.#clock.monotonicMs();
    this.#heldMs = startMs;
    try {
      return await work();
    } finally {
      const nowMs = this.#clock.monotonicMs();
      this.#heldMs = undefined;
      this.#readMs = Math.min(nowMs, this.#readMs + nowMs - startMs);
    }
  }

  /** Takes the next number, reads changes of other nodes before it, and stores the decided change. */
  async #decideInTransaction<T>(
    editRequest: EditRequest,
    decide: (write: SerializedWrite) => Promise<DecidedChange<T>>,
  ): Promise<T> {
    const editions = this.#editions;
    const ledger = this.#ledger;
    const { seq, decided } = await editions.transaction(async (tx) => {
      const { seq, baseSeq } = await editions.takeSeq(tx);
      if (baseSeq !== ledger.baseSeq) throw new ConcurrentChange();
      if (seq > ledger.seq + 1) {
        this.#draft.applyOthers(await editions.drafts(ledger.seq, tx), ledger.seq);
        ledger.noteRead(seq - 1);
      }
      await editRequest.refuseRepeated?.(tx);
      return { seq, decided: await decide({ tx, seq, throughSeq: seq - 1 }) };
    });
    ledger.noteRead(seq);
    decided.applyInMemory?.();
    return decided.result;
  }

  /** Repeats the change on the newest state after another node was faster. */
  async #withRetries<T>(editRequest: () => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await editRequest();
      } catch (error) {
        if (!(error instanceof ConcurrentChange)) throw error;
        if (count >= MAX_ATTEMPT_COUNT) throw gameDataError('unavailable', { retryAfterSec: 1 });
        await this.#reload();
      }
    }
  }

  async #catchUp(): Promise<void> {
    if (!this.#editions.isShared) return;
    const nowMs = this.#clock.monotonicMs();
    const { lastSeq, baseSeq } = await this.#editions.state();
    const isDue = this.#library.isDegraded && nowMs - this.#reloadedMs >= DAMAGE_RETRY_MS;
    if (baseSeq !== this.#ledger.baseSeq || isDue) return await this.#reload();
    if (lastSeq > this.#ledger.seq) {
      const since = this.#ledger.seq;
      this.#draft.applyOthers(await this.#editions.drafts(since), since);
      this.#ledger.noteRead(lastSeq);
    }
    this.#readMs = nowMs;
  }

  async #reload(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    this.#reloadedMs = nowMs;
    const { base, changes, seq, baseSeq } = await this.#library.load(this.#draft.set);
    this.#draft.load(base, changes);
    this.#ledger.noteRead(seq, baseSeq);
    this.#readMs = nowMs;
  }
}
