import type { Http2Session } from 'node:http2';
import { RoundRobin } from '@plinth/kernel';

/** Time per event-loop tick for starting requests; the remaining requests wait for later ticks. */
const SLICE_MS = 5;

interface QueuedRequest {
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
  readonly #waiting = new RoundRobin<Http2Session, QueuedRequest>();
  #sliceEndMs: number | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @param request started now or later, unless canceled. */
  take(session: Http2Session, request: QueuedRequest): void {
    if (!request.isWanted()) return;
    if (this.#sliceEndMs === undefined) {
      this.#sliceEndMs = this.#nowMs() + SLICE_MS;
      setImmediate(this.#next);
    }
    if (this.#waiting.count === 0 && this.#nowMs() < this.#sliceEndMs) {
      request.begin();
      return;
    }
    this.#waiting.add(session, request);
  }

  readonly #next = (): void => {
    const endMs = this.#nowMs() + SLICE_MS;
    while (this.#waiting.count > 0 && this.#nowMs() < endMs) this.#beginOne();
    this.#sliceEndMs = undefined;
    if (this.#waiting.count === 0) return;
    this.#sliceEndMs = endMs;
    setImmediate(this.#next);
  };

  #beginOne(): void {
    let next = this.#waiting.next();
    while (next !== undefined && !next.isWanted()) next = this.#waiting.next();
    next?.begin();
  }
}
