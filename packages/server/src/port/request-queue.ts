import type { Http2Session } from 'node:http2';
import { RoundRobin } from '@plinth/kernel';

/** Time per event-loop tick for starting requests; the remaining requests wait for later ticks. */
const TURN_MS = 5;

interface Beginning {
  readonly isWanted: () => boolean;
  readonly begin: () => void;
}

/**
 * Starts requests so that no connection delays the others. A burst of requests (one connection can send a thousand)
 * is started over several event-loop ticks, with all connections in rotation. A request canceled in the meantime
 * costs almost nothing.
 */
export class RequestQueue {
  readonly #nowMs: () => number;
  readonly #waiting = new RoundRobin<Http2Session, Beginning>();
  #turnEndMs: number | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @param beginning started now or later, unless canceled. */
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
