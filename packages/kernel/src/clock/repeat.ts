type Schedule = (delayMs: number, fire: () => void) => () => void;

/**
 * `Clock.every` over any one-shot timer: the next run is scheduled when the last one has ended, so runs never
 * overlap. A run that fails does not end the series; its error is raised as an unhandled rejection, because
 * a background job that can fail has to deal with its failures itself.
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
