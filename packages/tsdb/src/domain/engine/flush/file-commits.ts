import { Exclusive } from '@plinth/kernel';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import {
  type RegistryChange,
  type SegmentRegistry,
  SegmentsChanged,
} from '../../../storage/segments/segment-registry.js';
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
  readonly #exclusive = new Exclusive();
  #unsettled: PreparedChange | undefined;

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
    await this.#exclusive.run(async () => {
      const prepared = await this.#settledThen(prepare);
      try {
        await this.#registry.apply(prepared.change);
      } catch (error) {
        if (!(await this.#isCommitted(prepared, error))) throw error;
      }
      await publishAll(prepared);
    });
  }

  /** Finds out what became of a commit that nobody knows of, and ends it. Throws while that cannot be asked. */
  async settle(): Promise<void> {
    await this.#exclusive.run(() => this.#settle());
  }

  /** Runs `work` while registry and tables tell the same: no change is between its commit and its publication. */
  async between<T>(work: () => Promise<T>): Promise<T> {
    return await this.#exclusive.run(async () => {
      await this.#settle();
      return await work();
    });
  }

  async #settledThen(prepare: () => PreparedChange): Promise<PreparedChange> {
    try {
      await this.#settle();
    } catch (error) {
      await this.#removeFiles(prepare());
      throw error;
    }
    return prepare();
  }

  async #settle(): Promise<void> {
    const prepared = this.#unsettled;
    if (prepared === undefined) return;
    const isCommitted = await this.#registry.hasTakenEffect(prepared.change);
    this.#unsettled = undefined;
    if (isCommitted) await publishAll(prepared);
    else await this.#removeFiles(prepared);
  }

  async #isCommitted(prepared: PreparedChange, error: unknown): Promise<boolean> {
    if (!(error instanceof SegmentsChanged)) {
      try {
        if (await this.#registry.hasTakenEffect(prepared.change)) return true;
      } catch {
        this.#unsettled = prepared; // The first failure says more.
        return false;
      }
    }
    await this.#removeFiles(prepared);
    return false;
  }

  /** Whoever tries again writes others, and on a full disk they would pile up until the next start. */
  async #removeFiles({ change }: PreparedChange): Promise<void> {
    for (const { objectName } of [...change.addSegments, ...change.addSeriesFiles]) {
      await this.#files.remove(objectName).catch(this.#onError);
    }
  }
}

async function publishAll({ publications }: PreparedChange): Promise<void> {
  for (const each of publications) await publish(each);
}
