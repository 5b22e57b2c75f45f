import { Exclusive } from '@plinth/kernel';
import type { Manifest } from '../model/edition.js';
import type { EditionStore, EditionTransaction } from '../storage/edition-store.js';
import { ObjectsGone } from '../storage/relational-objects.js';

/** Another node has changed what this one decided by; nothing was stored. */
export class OthersWereFirst extends Error {
  override readonly name = 'OthersWereFirst';
  readonly kind = 'others_were_first';
  constructor() {
    super('another node has changed the game data');
  }
}

/** No change has this number. */
const NOT_READ = -1;

/** A change that is being stored. */
export interface SerializedWrite {
  readonly tx: EditionTransaction;
  readonly seq: number;
  /** What others changed after this number was not known when it was decided. */
  readonly throughSeq: number;
}

/**
 * How far this node has read what is stored. Changes are numbered one after the other, those of all nodes; the number of the
 * last one that moved what drafts begin with is the fence of publications, imports and discards.
 */
export class Ledger {
  readonly #editions: EditionStore;
  readonly #changes = new Exclusive();
  #seq = 0;
  #baseSeq = 0;

  constructor(editions: EditionStore) {
    this.#editions = editions;
  }

  /** One change at a time: drafts, imports and publications of this node wait for each other. */
  alone<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(change);
  }

  get seq(): number {
    return this.#seq;
  }

  get baseSeq(): number {
    return this.#baseSeq;
  }

  /** All changes through `seq` are known. Only inside `alone`. */
  know(seq: number, baseSeq = this.#baseSeq): void {
    this.#seq = seq;
    this.#baseSeq = baseSeq;
  }

  /** What has been read is not enough: whoever looks next reads all. Only inside `alone`. */
  forget(): void {
    this.#baseSeq = NOT_READ;
  }

  /**
   * Stores what drafts begin with from now on. Only inside `alone`. Throws `OthersWereFirst`.
   * @param write tells the manifest of what they begin with; `null`: the newest version; `undefined`: as it was.
   * @param isStrict also when others have changed no more than single records.
   */
  async moveBase(
    write: (turn: SerializedWrite) => Promise<Manifest | null | undefined>,
    { isStrict = false }: { readonly isStrict?: boolean } = {},
  ): Promise<void> {
    const throughSeq = this.#seq;
    const stored = this.#editions.transaction(async (tx) => {
      const taken = await this.#editions.takeSeq(tx);
      const isNext = taken.seq === throughSeq + 1;
      if (taken.baseSeq !== this.#baseSeq || (isStrict && !isNext)) throw new OthersWereFirst();
      const draftManifest = await write({ tx, seq: taken.seq, throughSeq });
      await this.#editions.putBase(tx, { seq: taken.seq, draftManifest });
      return taken.seq;
    });
    const seq = await stored.catch((error: unknown) => {
      if (!(error instanceof ObjectsGone)) throw error;
      // Read anew, the draft puts its own records again.
      this.forget();
      throw new OthersWereFirst();
    });
    // What others have changed in between is still to be read.
    this.know(seq === throughSeq + 1 ? seq : throughSeq, seq);
  }
}
