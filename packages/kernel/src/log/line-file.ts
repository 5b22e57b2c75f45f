import { openSync } from 'node:fs';
import { pino } from 'pino';

/** Maximum size of lines that are buffered for a slow disk or reader; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Lines are written in batches, because single writes would reduce the request throughput by a third. */
const WRITE_BYTES = 8 * 1024;
const MAX_WAIT_MS = 100;
const PRIVATE = 0o600;

/** Appends lines to a file within 100 ms. The caller never waits. */
export class LineFile {
  readonly #destination: ReturnType<typeof pino.destination>;
  #hasFailed = false;
  #isClosed = false;

  /**
   * Throws the system error when the path cannot be opened.
   * @param target a path, or an open file descriptor.
   * @param onFailure called at the first failure of a series.
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

  /** Does nothing after `close`, because responses can end while the server stops. */
  write(line: string): void {
    if (!this.#isClosed) this.#destination.write(line);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // Lines that cannot be written are lost.
    try {
      this.#destination.flushSync();
    } catch {}
    this.#destination.end();
  }
}
