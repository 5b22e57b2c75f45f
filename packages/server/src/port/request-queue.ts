import type { Http2Session } from 'node:http2';
import { RoundRobin } from '@plinth/kernel';

/** What comes in one turn of the event loop is begun for so long; the rest waits for later turns. */
const TURN_MS = 5;

interface Beginning {
  readonly isWanted: () => boolean;
  readonly begin: () => void;
}

/**
 * Begins requests so that no connection holds up the others: many that arrive at once, of which one connection may carry a
 * thousand, are begun in several turns of the event loop, those of all connections in rotation. Who has taken its request back
 * by then has cost next to nothing.
 */
export class RequestQueue {
  readonly #nowMs: () => number;
  readonly #waiting = new RoundRobin<Http2Session, Beginning>();
  #turnEndMs: number | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @param beginning begun at once or later, unless it is not wanted any more. */
  take(session: Http2Session, beginning: Beginning): void {
    if (!beginning.isWanted()) return;
    if (this.#turnEndMs === undefined) {
      this.#turnEndMs = this.#nowMs() + TURN_MS;
      setImmediate(this.#next);
    }
    if (this.#waiting.count === 0 && this.#nowMs() < this.#turnEndMs) {
      beginning.begin();
      return;
    }
    this.#waiting.add(session, beginning);
  }

  readonly #next = (): void => {
    const endMs = this.#nowMs() + TURN_MS;
    while (this.#waiting.count > 0 && this.#nowMs() < endMs) this.#beginOne();
    this.#turnEndMs = undefined;
    if (this.#waiting.count === 0) return;
    this.#turnEndMs = endMs;
    setImmediate(this.#next);
  };

  #beginOne(): void {
    let next = this.#waiting.next();
    while (next !== undefined && !next.isWanted()) next = this.#waiting.next();
    next?.begin();
  }
}
