import {
  CHECKED_AT_OPENING_BYTES,
  checkDatabase,
  type FileSystem,
  type Logger,
} from '@plinth/kernel';

interface CatalogCheckDeps {
  readonly files: FileSystem;
  /** Of the database. */
  readonly path: string;
  readonly log: Logger;
}

/**
 * Reads all pages of a database that was too large to be checked when it was opened, while the server is running. The
 * result is logged, and set as `obstacle` if the database is corrupt.
 */
export class CatalogCheck {
  readonly #deps: CatalogCheckDeps;
  readonly #stop = new AbortController();
  #obstacle: string | undefined;
  #done: Promise<void> | undefined;

  constructor(deps: CatalogCheckDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { path, log } = this.#deps;
    this.#done ??= this.#run().catch((err: unknown) => {
      if (!this.#stop.signal.aborted) log.error({ err, file: path }, 'plinth.db cannot be checked');
    });
  }

  /** For readiness. */
  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** Interrupts the check. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { files, path, log } = this.#deps;
    const sizeBytes = (await files.stat(path))?.sizeBytes ?? 0;
    if (sizeBytes <= CHECKED_AT_OPENING_BYTES) return;
    const faults = await checkDatabase(path, false, this.#stop.signal);
    if (faults.length === 0) {
      log.info({ file: path, sizeBytes }, 'plinth.db checked');
      return;
    }
    this.#obstacle = `${path} is corrupt: stop the server and restore a snapshot (plinth snapshot) or a backup`;
    log.error({ file: path, faults }, 'plinth.db is corrupt');
  }
}
