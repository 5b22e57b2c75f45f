import { QueryTimedOut } from '../../errors.js';

/** Aborts a query when its client leaves or its time is over, whichever comes first. `end` must be called once. */
export class QueryDeadline {
  readonly signal: AbortSignal;
  readonly #end: (() => void) | undefined;

  /** @param limitMs 0: there is no limit. */
  constructor(client: AbortSignal, limitMs: number) {
    if (limitMs === 0) {
      this.signal = client;
      return;
    }
    const controller = new AbortController();
    const leave = (): void => controller.abort(client.reason);
    const timer = setTimeout(() => controller.abort(new QueryTimedOut(limitMs)), limitMs);
    timer.unref();
    if (client.aborted) leave();
    client.addEventListener('abort', leave, { once: true });
    this.signal = controller.signal;
    this.#end = () => {
      clearTimeout(timer);
      client.removeEventListener('abort', leave);
    };
  }

  end(): void {
    this.#end?.();
  }
}
