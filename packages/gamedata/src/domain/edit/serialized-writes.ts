import type { Clock } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import type { EditionStore } from '../../storage/edition-store.js';
import { type Ledger, OthersWereFirst, type SerializedWrite } from '../ledger.js';
import type { Library } from '../library.js';
import type { Attempt, Decided } from './attempt.js';
import type { Draft } from './draft.js';

/** A change that others were always faster than is given up. */
const MAX_ATTEMPT_COUNT = 10;
/** What could not be read is tried again so often. */
const DAMAGE_RETRY_MS = 5000;

/**
 * The changes of all nodes, one after the other: each is decided by what is stored when its turn has come, whichever node has
 * stored it. A node that shares nothing finds what it has itself.
 */
export class SerializedWrites {
  readonly #ledger: Ledger;
  readonly #library: Library;
  readonly #draft: Draft;
  readonly #editions: EditionStore;
  readonly #clock: Clock;
  #readMs: number;
  /** Since when a change of this node holds up its reading; `undefined`: none does. */
  #heldMs: number | undefined;
  #reloadedMs: number;

  constructor(needs: {
    readonly ledger: Ledger;
    readonly library: Library;
    readonly draft: Draft;
    readonly editions: EditionStore;
    readonly clock: Clock;
  }) {
    this.#ledger = needs.ledger;
    this.#library = needs.library;
    this.#draft = needs.draft;
    this.#editions = needs.editions;
    this.#clock = needs.clock;
    this.#readMs = this.#clock.monotonicMs();
    this.#reloadedMs = this.#readMs;
  }

  /** For how long changes of others could not be read; 0 where there are none. A change of this node's own is no lag. */
  get behindMs(): number {
    if (!this.#editions.isShared) return 0;
    return Math.max(0, (this.#heldMs ?? this.#clock.monotonicMs()) - this.#readMs);
  }

  /** Reads all that is stored. */
  async load(): Promise<void> {
    await this.#ledger.alone(() => this.#reload());
  }

  /** Reads what others have changed. */
  async follow(): Promise<void> {
    await this.#ledger.alone(() => this.#catchUp());
  }

  /** A change of records, decided within its transaction: it waits for nothing but that. Throws `unavailable`. */
  async record<T>(
    attempt: Attempt,
    decide: (turn: SerializedWrite) => Promise<Decided<T>>,
  ): Promise<T> {
    return await this.#ledger.alone(() => this.#repeated(() => this.#take(attempt, decide)));
  }

  /**
   * A change of what drafts begin with, which may take long before it is stored by `Ledger.moveBase`; it is decided anew where
   * another node was first. Throws `unavailable`.
   */
  async whole<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    return await this.#ledger.alone(async () => {
      const result = await this.#repeated(async () => {
        await this.#catchUp();
        await attempt.check?.();
        return await this.#holding(work);
      });
      // The draft as every other node reads it.
      // What is stored stays so, whether or not it can be read now.
      if (this.#editions.isShared) await this.#reload().catch(() => this.#ledger.forget());
      return result;
    });
  }

  /** As `whole`, for what cannot be decided anew. Throws `conflict` where another node was first. */
  async once<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    return await this.#ledger.alone(async () => {
      await this.#catchUp();
      await attempt.check?.();
      try {
        return await this.#holding(work);
      } catch (error) {
        if (!(error instanceof OthersWereFirst)) throw error;
        throw gameDataError('conflict', {
          message:
            'the game data was changed through another node meanwhile; nothing was stored, send it again',
        });
      }
    });
  }

  /** A number for a change that is stored later. Only inside `once`. */
  async reserve(attempt: Attempt): Promise<number> {
    return await this.#repeated(() =>
      this.#take({ actor: attempt.actor }, async ({ seq }) => ({ result: seq })),
    );
  }

  async #holding<T>(work: () => Promise<T>): Promise<T> {
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

  async #take<T>(
    attempt: Attempt,
    decide: (turn: SerializedWrite) => Promise<Decided<T>>,
  ): Promise<T> {
    const editions = this.#editions;
    const ledger = this.#ledger;
    const { seq, decided } = await editions.transaction(async (tx) => {
      const { seq, baseSeq } = await editions.takeSeq(tx);
      if (baseSeq !== ledger.baseSeq) throw new OthersWereFirst();
      if (seq > ledger.seq + 1) {
        this.#draft.take(await editions.drafts(ledger.seq, tx), ledger.seq);
        ledger.know(seq - 1);
      }
      await attempt.check?.(tx);
      return { seq, decided: await decide({ tx, seq, throughSeq: seq - 1 }) };
    });
    ledger.know(seq);
    decided.show?.();
    return decided.result;
  }

  async #repeated<T>(attempt: () => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof OthersWereFirst)) throw error;
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
      this.#draft.take(await this.#editions.drafts(since), since);
      this.#ledger.know(lastSeq);
    }
    this.#readMs = nowMs;
  }

  async #reload(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    this.#reloadedMs = nowMs;
    const { base, changes, seq, baseSeq } = await this.#library.load(this.#draft.set);
    this.#draft.load(base, changes);
    this.#ledger.know(seq, baseSeq);
    this.#readMs = nowMs;
  }
}
