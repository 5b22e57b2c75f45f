import { openSync } from 'node:fs';
import { pino } from 'pino';

/** Waits in memory for a slow disk or reader; what comes beyond it is left out. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const PRIVATE = 0o600;

/** Appends lines to a file without holding anybody up. */
export class LineFile {
  readonly #destination: ReturnType<typeof pino.destination>;
  #hasFailed = false;

  /**
   * Throws the system's error for a path that cannot be opened.
   * @param target a path, or a file descriptor that is open.
   * @param onFailure called at the first of a series of failures.
   */
  constructor(target: string | number, onFailure: (error: unknown) => void) {
    this.#destination = pino.destination({
      dest: typeof target === 'number' ? target : openSync(target, 'a', PRIVATE),
      sync: false,
      maxLength: MAX_WAITING_BYTES,
    });
    this.#destination.on('error', (error: unknown) => {
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      onFailure(error);
    });
    this.#destination.on('drain', () => {
      this.#hasFailed = false;
    });
  }

  write(line: string): void {
    this.#destination.write(line);
  }

  close(): void {
    // What a file that cannot be written lacks is lost.
    try {
      this.#destination.flushSync();
    } catch {}
    this.#destination.end();
  }
}
