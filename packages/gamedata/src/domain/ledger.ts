import { Exclusive } from '@plinth/kernel';
import type { Manifest } from '../model/edition.js';
import type { EditionStore, EditionTransaction } from '../storage/edition-store.js';
import { ObjectsGone } from '../storage/relational-objects.js';

/** Another node changed the data on which this change was based; nothing was stored. */
export class ConcurrentChange extends Error {
  override readonly name = 'OthersWereFirst';
  readonly kind = 'others_were_first';
  constructor() {
    super('another node has changed the game data');
  }
}

/** Marks the stored state as unread; no change has this number. */
const NOT_READ = -1;

/** A change that is being stored. */
export interface SerializedWrite {
  readonly tx: EditionTransaction;
  readonly seq: number;
  /** The decision does not take changes after this number into account. */
  readonly throughSeq: number;
}

/**
 * Tracks how far this node has read the stored state. Changes of all nodes share one sequence of
 * numbers (`seq`). The base is the state on which the draft's changes are based: a published version
 * or an import. `baseSeq` is the number of its last change: a publication, import or discard is
 * stored only if another node has not changed the base in the meantime.
 */
export class Ledger {
  readonly #editions: EditionStore;
  readonly #changes = new Exclusive();
  #seq = 0;
  #baseSeq = 0;

  constructor(editions: EditionStore) {
    this.#editions = editions;
  }

  /** Serializes the drafts, imports and publications of this node. */
  exclusive<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(change);
  }

  get seq(): number {
    return this.#seq;
  }

  get baseSeq(): number {
    return this.#baseSeq;
  }

  /**
   * Records that all changes up to and including `seq` have been read. Call only inside
   * `exclusive`.
   */
  noteRead(seq: number, baseSeq = this.#baseSeq): void {
    this.#seq = seq;
    this.#baseSeq = baseSeq;
  }

  /** Makes the next read load all state. Call only inside `exclusive`. */
  invalidate(): void {
    this.#baseSeq = NOT_READ;
  }

  /**
   * Stores a new base of drafts. Call only inside `exclusive`. Throws `ConcurrentChange`.
   * @param write returns the manifest of the base; `null` for the newest version; `undefined` if unchanged.
   * @param isStrict whether changes of single records by other nodes also count as a conflict.
   */
  async moveBase(
    write: (turn: SerializedWrite) => Promise<Manifest | null | undefined>,
    { isStrict = false }: { readonly isStrict?: boolean } = {},
  ): Promise<void> {
    const throughSeq = this.#seq;
    const stored = this.#editions.transaction(async (tx) => {
      const taken = await this.#editions.takeSeq(tx);
      const isNext = taken.seq === throughSeq + 1;
      if (taken.baseSeq !== this.#baseSeq || (isStrict && !isNext)) throw new ConcurrentChange();
      const draftManifest = await write({ tx, seq: taken.seq, throughSeq });
      await this.#editions.putBase(tx, { seq: taken.seq, draftManifest });
      return taken.seq;
    });
    const seq = await stored.catch((error: unknown) => {
      if (!(error instanceof ObjectsGone)) throw error;
      // After a reload, the draft contains its own records again.
      this.invalidate();
      throw new ConcurrentChange();
    });
    // Changes of other nodes in between are still unread.
    this.noteRead(seq === throughSeq + 1 ? seq : throughSeq, seq);
  }
}
