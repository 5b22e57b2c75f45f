import { QueryTimedOut } from '../../../errors.js';

/** Whoever waits for a query. The signal may be made when it is looked at: answers that are there at once do without. */
export interface Asker {
  readonly signal: AbortSignal;
}

/** Aborts a query when its client leaves or its time is over, whichever comes first. `end` must be called once. */
export class QueryDeadline implements Asker {
  readonly #asker: Asker;
  readonly #end: (() => void) | undefined;

  /** @param limitMs 0: there is no limit. */
  constructor(asker: Asker, limitMs: number) {
    if (limitMs === 0) {
      this.#asker = asker;
      return;
    }
    const client = asker.signal;
    const controller = new AbortController();
    const leave = (): void => controller.abort(client.reason);
    const timer = setTimeout(() => controller.abort(new QueryTimedOut(limitMs)), limitMs);
    timer.unref();
    if (client.aborted) leave();
    client.addEventListener('abort', leave, { once: true });
    this.#asker = controller;
    this.#end = () => {
      clearTimeout(timer);
      client.removeEventListener('abort', leave);
    };
  }

  get signal(): AbortSignal {
    return this.#asker.signal;
  }

  end(): void {
    this.#end?.();
  }
}
