import type { FileSystem } from '@plinth/kernel';
import type { FileSums } from './file-sums.js';
import type { Segment } from './segment.js';
import type { SegmentFiles } from './segment-files.js';
import type { SegmentRegistry } from './segment-registry.js';

/** Of one transaction. */
const MAX_BATCH_COUNT = 1000;

/**
 * Looks at files before they are read for the first time: one with the size and time of modification with which its bytes were
 * right is taken for what it is, any other is read as a whole, and remembered in the registry. What is not remembered is read
 * again by the next process, which is all that a lost or damaged memory does.
 */
export class KnownFiles {
  readonly #files: Pick<SegmentFiles, 'pathOf'>;
  readonly #sums: FileSums;
  readonly #fileSystem: FileSystem;
  readonly #registry: Pick<SegmentRegistry, 'noteVerified'>;
  readonly #onError: (error: unknown) => void;
  /** By id, what is not in the registry yet: at most an entry for each stored file. */
  #noted = new Map<string, number>();
  #saving: Promise<void> | undefined;
  /** Those that this process has read as a whole, and those that it has to. */
  readonly #looks = new WeakMap<Segment, 'done' | 'due'>();
  #isClosed = false;

  constructor(needs: {
    readonly files: Pick<SegmentFiles, 'pathOf'>;
    readonly sums: FileSums;
    readonly fileSystem: FileSystem;
    readonly registry: Pick<SegmentRegistry, 'noteVerified'>;
    readonly onError: (error: unknown) => void;
  }) {
    this.#files = needs.files;
    this.#sums = needs.sums;
    this.#fileSystem = needs.fileSystem;
    this.#registry = needs.registry;
    this.#onError = needs.onError;
  }

  /** Throws `FileDamaged`. */
  async check(file: Segment): Promise<void> {
    const path = this.#files.pathOf(file.objectName);
    // Before it is read: what changes it afterwards changes the time.
    const stat = await this.#fileSystem.stat(path).catch(() => undefined); // Reading it tells more.
    const modifiedMs = stat === undefined ? undefined : Math.floor(stat.modifiedMs);
    const isKnown = stat?.sizeBytes === file.sizeBytes && modifiedMs === file.modifiedMs;
    if (isKnown && this.#looks.get(file) !== 'due') return;
    await this.#sums.verify(file);
    this.#looks.set(file, 'done');
    if (!isKnown && modifiedMs !== undefined) this.#note(file.id, modifiedMs);
  }

  /** The engine could not make sense of the file. False: it was read as a whole, and is right. */
  invalidate(file: Segment): boolean {
    if (this.#looks.get(file) === 'done') return false;
    this.#looks.set(file, 'due');
    return true;
  }

  /** Resolves when nothing is left to remember; what is checked from here on is not. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#saving;
  }

  #note(id: string, modifiedMs: number): void {
    if (this.#isClosed) return;
    this.#noted.set(id, modifiedMs);
    this.#saving ??= this.#save()
      .catch(this.#onError)
      .finally(() => {
        this.#saving = undefined;
      });
  }

  async #save(): Promise<void> {
    while (this.#noted.size > 0) {
      const batch = new Map([...this.#noted].slice(0, MAX_BATCH_COUNT));
      for (const id of batch.keys()) this.#noted.delete(id);
      await this.#registry.noteVerified(batch);
    }
  }
}
