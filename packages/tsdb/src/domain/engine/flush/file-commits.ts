import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import {
  type RegistryChange,
  type SegmentRegistry,
  SegmentsChanged,
  type StoredTombstone,
} from '../../../storage/segments/segment-registry.js';
import { type AskedCommit, AskedCommits } from '../../catalog/records/asked-commits.js';
import { type Publication, publish } from '../table/publication.js';

/** A change whose files are written, and what memory does when the registry has it. */
export interface PreparedChange {
  readonly change: RegistryChange;
  readonly publications: readonly Publication[];
}

/**
 * The one way in which files become those of tables, or stop being it: prepare, commit, publish (ADR 0082). A commit whose
 * outcome is not known, because the catalog cannot be asked, is settled before anything else is committed: whoever tries again
 * would write the same rows once more.
 */
export class FileCommits {
  readonly #registry: SegmentRegistry;
  readonly #files: SegmentFiles;
  readonly #onError: (error: unknown) => void;
  readonly #commits = new AskedCommits();

  constructor(options: {
    readonly registry: SegmentRegistry;
    readonly files: SegmentFiles;
    /** Hears of files that could not be removed; the next start does it. */
    readonly onError: (error: unknown) => void;
  }) {
    this.#registry = options.registry;
    this.#files = options.files;
    this.#onError = options.onError;
  }

  /**
   * Resolves when the change is committed and published. Otherwise nothing has changed, and its new files are gone; or the
   * outcome is not known yet, and `settle` finds out. Throws `SegmentsChanged` when what it removes is not there any more.
   * @param prepare asked when nothing stands between it and the commit.
   */
  async commit(prepare: () => PreparedChange): Promise<void> {
    await this.#commits.commit(() => this.#commitOf(prepare()));
  }

  /**
   * Resolves when deletions of rows are stored and hold. Nothing is written as files meanwhile that would have to heed them, and
   * when nobody can say whether they are stored, not before that is known.
   */
  async addTombstones(
    tombstones: readonly StoredTombstone[],
    outcome: { publish(): void; abandon(): void },
  ): Promise<void> {
    await this.#commits.commit(() => ({
      ...outcome,
      make: () => this.#registry.addTombstones(tombstones),
      isMade: () => this.#registry.hasTombstones(tombstones),
    }));
  }

  /** Finds out what became of a commit that nobody knows of, and ends it. Throws while that cannot be asked. */
  async settle(): Promise<void> {
    await this.#commits.settle();
  }

  /** Runs `work` while registry and tables tell the same: no change is between its commit and its publication. */
  async between<T>(work: () => Promise<T>): Promise<T> {
    return await this.#commits.between(work);
  }

  #commitOf(prepared: PreparedChange): AskedCommit {
    const { change, publications } = prepared;
    const registry = this.#registry;
    return {
      make: () => registry.apply(change),
      isMade: async (error) =>
        !(error instanceof SegmentsChanged) && (await registry.hasTakenEffect(change)),
      async publish() {
        for (const each of publications) await publish(each);
      },
      abandon: () => this.#removeFiles(prepared),
    };
  }

  /** Whoever tries again writes others, and on a full disk they would pile up until the next start. */
  async #removeFiles({ change }: PreparedChange): Promise<void> {
    for (const { objectName } of [...change.addSegments, ...change.addSeriesFiles]) {
      await this.#files.remove(objectName).catch(this.#onError);
    }
  }
}
