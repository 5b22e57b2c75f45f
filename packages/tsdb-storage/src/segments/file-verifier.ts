import type { FileSystem } from '@plinth/kernel';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { FileSums } from './file-sums.js';
import type { SegmentFiles } from './segment-files.js';
import type { SegmentRegistry } from './segment-registry.js';

/** Maximum entries per transaction. */
const MAX_BATCH_COUNT = 1000;

/**
 * Verifies files before their first read. A file whose size and modification time match the last
 * verification is trusted. Others are read completely, and the result is stored in the registry.
 * Files without a stored result are read again by the next process, which is the only effect of a
 * lost or corrupt result.
 */
export class FileVerifier {
  readonly #files: Pick<SegmentFiles, 'pathOf'>;
  readonly #sums: FileSums;
  readonly #fileSystem: FileSystem;
  readonly #registry: Pick<SegmentRegistry, 'storeVerified'>;
  readonly #onError: (error: unknown) => void;
  /** By id: results that are not in the registry yet, at most one per stored file. */
  #noted = new Map<string, number>();
  #saving: Promise<void> | undefined;
  /** Files that this process has verified, and files that it must verify. */
  readonly #states = new WeakMap<Segment, 'done' | 'due'>();
  #isClosed = false;

  constructor(deps: {
    readonly files: Pick<SegmentFiles, 'pathOf'>;
    readonly sums: FileSums;
    readonly fileSystem: FileSystem;
    readonly registry: Pick<SegmentRegistry, 'storeVerified'>;
    readonly onError: (error: unknown) => void;
  }) {
    this.#files = deps.files;
    this.#sums = deps.sums;
    this.#fileSystem = deps.fileSystem;
    this.#registry = deps.registry;
    this.#onError = deps.onError;
  }

  /** Throws `FileDamaged`. */
  async check(file: Segment): Promise<void> {
    const path = this.#files.pathOf(file.objectName);
    // Read the time first, so that later changes are detected.
    const stat = await this.#fileSystem.stat(path).catch(() => undefined); // The read below reports the error.
    const modifiedMs = stat === undefined ? undefined : Math.floor(stat.modifiedMs);
    const isKnown = stat?.sizeBytes === file.sizeBytes && modifiedMs === file.modifiedMs;
    if (isKnown && this.#states.get(file) !== 'due') return;
    await this.#sums.verify(file);
    this.#states.set(file, 'done');
    if (!isKnown && modifiedMs !== undefined) this.#note(file.id, modifiedMs);
  }

  /**
   * Call when DuckDB could not read the file. Returns false if the file was already verified
   * completely.
   */
  invalidate(file: Segment): boolean {
    if (this.#states.get(file) === 'done') return false;
    this.#states.set(file, 'due');
    return true;
  }

  /** Resolves when all results are stored. Later results are not stored. */
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
      await this.#registry.storeVerified(batch);
    }
  }
}
