type Schedule = (delayMs: number, fire: () => void) => () => void;

/**
 * `Clock.every` for any one-shot timer. The next run is scheduled after the previous one has ended, so runs never
 * overlap. A failed run does not end the series. Its error becomes an unhandled rejection, as a job must handle its
 * expected failures itself.
 */
export function repeat(
  intervalMs: number,
  run: () => void | Promise<void>,
  schedule: Schedule,
): Disposable {
  let isDisposed = false;
  let cancel = (): void => {};
  const next = (): void => {
    if (!isDisposed) cancel = schedule(intervalMs, fire);
  };
  const fire = (): void => {
    void Promise.resolve().then(run).finally(next);
  };
  next();
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      cancel();
    },
  };
}
