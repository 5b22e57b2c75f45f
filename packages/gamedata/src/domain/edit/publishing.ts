import { KINDS, type Kind } from '../../model/kinds.js';
import type { EditionStore } from '../../storage/edition-store.js';
import { diffSets, takeKinds } from '../data/set-changes.js';
import { type RecordFault, validateSet } from '../data/validation.js';
import type { Ledger } from '../ledger.js';
import type { Library } from '../library.js';
import type { Published } from '../publication.js';
import type { Draft } from './draft.js';
import type { EditRequest } from './edit-request.js';
import type { SerializedWrites } from './serialized-writes.js';

/** Publishes or discards the draft, and restores versions. */
export class Publishing {
  readonly #ledger: Ledger;
  readonly #turns: SerializedWrites;
  readonly #library: Library;
  readonly #editions: EditionStore;
  readonly #draft: Draft;

  constructor(deps: {
    readonly ledger: Ledger;
    readonly writes: SerializedWrites;
    readonly library: Library;
    readonly editions: EditionStore;
    readonly draft: Draft;
  }) {
    this.#ledger = deps.ledger;
    this.#turns = deps.writes;
    this.#library = deps.library;
    this.#editions = deps.editions;
    this.#draft = deps.draft;
  }

  /** Publishes the draft or one kind of it. Throws `validation_failed` and `unavailable`. */
  async save(
    editRequest: EditRequest,
    kinds: readonly Kind[],
    message: string,
    describe: (published: Published) => unknown,
  ): Promise<Published> {
    return await this.#turns.changeBase(editRequest, async () => {
      await this.#assertWhole(kinds);
      const set = takeKinds(this.#library.current.set, this.#draft.set, kinds);
      const draft = this.#draft.set;
      const published = await this.#library.publish(set, {
        actor: editRequest.actor,
        message,
        source: 'editor',
        action: 'published',
        op: 'publish',
        kinds,
        draft,
        dropsDraft: false,
        also: async (tx, result) => await editRequest.storeReply?.(tx, describe(result)),
      });
      this.#draft.replace(draft, kinds);
      return published;
    });
  }

  /** A draft without a base must not replace unreadable versions; an imported set may. */
  async #assertWhole(kinds: readonly Kind[]): Promise<void> {
    const { draftManifest } = await this.#editions.state();
    if (draftManifest === undefined || kinds.length < KINDS.length) this.#library.assertReadable();
  }

  /** Resets the draft to the published records. @returns the number of changed records. */
  async discard(editRequest: EditRequest, kinds: readonly Kind[]): Promise<number> {
    return await this.#turns.changeBase(editRequest, async () => {
      const { set } = this.#library.current;
      const next = takeKinds(this.#draft.set, set, kinds);
      const discarded = (await diffSets(this.#draft.set, next)).length;
      const draftManifest = next.isSameAs(set) ? null : await this.#baseWithout(kinds);
      await this.#ledger.moveBase(async ({ tx, throughSeq }) => {
        await this.#editions.dropDrafts(tx, kinds, throughSeq);
        await this.#editions.history.markDiscarded(tx, kinds, throughSeq);
        await editRequest.storeReply?.(tx, { success: true, discarded });
        return draftManifest;
      });
      this.#draft.replace(next, kinds);
      return discarded;
    });
  }

  /**
   * Returns the base of the draft with some kinds as published; `undefined` if the base is the
   * published version.
   */
  async #baseWithout(kinds: readonly Kind[]) {
    const { draftManifest } = await this.#editions.state();
    if (draftManifest === undefined) return undefined;
    const { manifest } = this.#library.current.version;
    const groups = { ...draftManifest.groups };
    const aliases = { ...draftManifest.aliases };
    for (const kind of kinds) {
      groups[kind] = manifest.groups[kind];
      const own = manifest.aliases[kind];
      if (own === undefined) delete aliases[kind];
      else aliases[kind] = own;
    }
    return { ...draftManifest, groups, aliases };
  }

  async validate(kinds: readonly Kind[]): Promise<readonly RecordFault[]> {
    return await validateSet(this.#draft.set, { kinds });
  }

  /** Publishes version `number` again as the newest version. Unpublished changes are dropped. */
  async restore(
    editRequest: EditRequest,
    number: number,
    describe: (published: Published) => unknown,
  ): Promise<Published> {
    return await this.#turns.changeBase(editRequest, async () => {
      const { set } = await this.#library.edition(number);
      const published = await this.#library.publish(set, {
        actor: editRequest.actor,
        message: `restored version ${number}`,
        source: 'restore',
        action: 'restored',
        op: 'restore',
        kinds: KINDS,
        draft: set,
        dropsDraft: true,
        also: async (tx, result) => await editRequest.storeReply?.(tx, describe(result)),
      });
      this.#draft.replace(this.#library.current.set, KINDS);
      return published;
    });
  }

  /** Returns the number of records per kind that differ from the published version. */
  async changedCounts(): Promise<Record<Kind, number>> {
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>; // has all kinds
    const changes = await diffSets(this.#library.current.set, this.#draft.set);
    for (const { kind } of changes) counts[kind] += 1;
    return counts;
  }
}
