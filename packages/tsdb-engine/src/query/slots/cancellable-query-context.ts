import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';

/** The error that the client of a canceled query receives. */
export type CancelReason = TsdbError<'query_cancelled' | 'query_unauthorized'>;

/**
 * Aborts a query when its client disconnects, it is canceled or its time limit expires. Call `end`
 * exactly once. Timer and listeners are created only when the signal is first read: they took a
 * fifth of the time of a query from memory.
 */
export class CancellableQueryContext implements QueryContext {
  readonly owner: string;
  reserved: QueryContext['reserved'];
  readonly #client: Pick<QueryContext, 'signal'>;
  readonly #limitMs: number;
  readonly #startMs: number;
  readonly #onAborted: ((aborted: AbortSignal) => void) | undefined;
  #controller: AbortController | undefined;
  #cancelledBy: CancelReason | undefined;
  #stop: (() => void) | undefined;
  #hasEnded = false;

  /**
   * @param owner on whose behalf the query runs.
   * @param limitMs 0 disables the limit.
   * @param onAborted called if the query is aborted before `end`.
   */
  constructor(
    client: Pick<QueryContext, 'signal'>,
    owner: string,
    limitMs: number,
    onAborted?: (aborted: AbortSignal) => void,
  ) {
    this.#onAborted = onAborted;
    this.#client = client;
    this.owner = owner;
    this.#limitMs = limitMs;
    this.#startMs = limitMs === 0 ? 0 : performance.now();
  }

  get signal(): AbortSignal {
    if (this.#hasEnded && this.#controller === undefined) return this.#client.signal;
    this.#controller ??= this.#watch();
    return this.#controller.signal;
  }

  /** Cancels the query on request. */
  cancel(reason: CancelReason = tsdbError('query_cancelled')): void {
    this.#cancelledBy = reason;
    this.#controller?.abort(reason);
  }

  end(): void {
    this.#hasEnded = true;
    this.#stop?.();
  }

  #watch(): AbortController {
    const client = this.#client.signal;
    const controller = new AbortController();
    const { signal } = controller;
    signal.addEventListener('abort', () => this.#hasEnded || this.#onAborted?.(signal), {
      once: true,
    });
    const abort = (): void => controller.abort(endOfQuery(client));
    const timer = this.#limitMs === 0 ? undefined : this.#endInTime(controller);
    if (client.aborted) abort();
    if (this.#cancelledBy !== undefined) controller.abort(this.#cancelledBy);
    client.addEventListener('abort', abort, { once: true });
    this.#stop = () => {
      clearTimeout(timer);
      client.removeEventListener('abort', abort);
    };
    return controller;
  }

  #endInTime(controller: AbortController): NodeJS.Timeout {
    const leftMs = Math.max(0, this.#startMs + this.#limitMs - performance.now());
    const late = (): void => controller.abort(tsdbError('query_timed_out', this.#limitMs));
    return setTimeout(late, leftMs).unref();
  }
}
