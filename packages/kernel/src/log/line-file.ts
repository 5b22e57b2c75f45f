import { openSync } from 'node:fs';
import { pino } from 'pino';

/** Kept in memory for a slow disk or reader; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Lines are written together: one write each costs a server that logs its requests a third of its speed. */
const WRITE_BYTES = 8 * 1024;
const MAX_WAIT_MS = 100;
const PRIVATE = 0o600;

/** Appends lines to a file, at most 100 ms later; the caller never waits. */
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
      minLength: WRITE_BYTES,
      periodicFlush: MAX_WAIT_MS,
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
