import { stat } from 'node:fs/promises';
import { CHECKED_AT_OPENING_BYTES, checkDatabase, type Logger } from '@plinth/kernel';

/**
 * Reads all pages of a database that was too large to be checked when it was opened, beside the work of the server. The result
 * is in the log, and in `obstacle` when it is bad.
 */
export class CatalogCheck {
  #obstacle: string | undefined;
  readonly #done: Promise<void>;

  constructor(path: string, log: Logger) {
    this.#done = this.#run(path, log).catch((err: unknown) =>
      log.error({ err, file: path }, 'plinth.db cannot be checked'),
    );
  }

  /** For readiness. */
  get obstacle(): string | undefined {
    return this.#obstacle;
  }

  /** The thread that reads cannot be stopped: waits for its end. */
  async close(): Promise<void> {
    await this.#done;
  }

  async #run(path: string, log: Logger): Promise<void> {
    const { size: sizeBytes } = await stat(path);
    if (sizeBytes <= CHECKED_AT_OPENING_BYTES) return;
    const faults = await checkDatabase(path, false);
    if (faults.length === 0) {
      log.info({ file: path, sizeBytes }, 'plinth.db checked');
      return;
    }
    this.#obstacle = `${path} is corrupt: stop the server and restore a snapshot (plinth snapshot) or a backup`;
    log.error({ file: path, faults }, 'plinth.db is corrupt');
  }
}
