import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';

/**
 * Forwards items until the signal is aborted, then fails immediately, even if the pending item
 * never arrives: DuckDB cannot always be interrupted. `items` is closed as soon as possible, even
 * if no further item is requested, because a connected client may have stopped reading.
 */
export async function* untilAborted<T>(
  items: AsyncGenerator<T, void, undefined>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const end = (): void => {
    items.throw(endOfQuery(signal)).catch(() => undefined); // the next call of `next` reports the failure
  };
  try {
    for (;;) {
      const { done, value } = await orAborted(items.next(), signal);
      if (done === true) return;
      signal.addEventListener('abort', end, { once: true });
      yield value;
      signal.removeEventListener('abort', end);
    }
  } finally {
    signal.removeEventListener('abort', end);
    const ending = items.return();
    // The failure was already reported, or no reader is left.
    if (signal.aborted) ending.catch(() => undefined);
    else await ending;
  }
}

/** Settles like `work`, or rejects immediately when the query's signal is aborted. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(endOfQuery(signal));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
