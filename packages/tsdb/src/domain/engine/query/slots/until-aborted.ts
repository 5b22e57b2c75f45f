import { endOfQuery } from '../../../../model/end-of-query.js';

/**
 * Hands items on until the signal is aborted, and fails then at once, even if the one that was asked for is never made: the
 * engine cannot always be interrupted. `items` come to their own end whenever they can, also where nobody asks for the next one:
 * a client may stand still without leaving.
 */
export async function* untilAborted<T>(
  items: AsyncGenerator<T, void, undefined>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const end = (): void => {
    items.throw(endOfQuery(signal)).catch(() => undefined); // Whoever asks again is told.
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
    // They have told their failure, or nobody is left to be told.
    if (signal.aborted) ending.catch(() => undefined);
    else await ending;
  }
}

/** What becomes of `work`, or at once the end of the query whose signal is aborted. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(endOfQuery(signal));
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
