import type { RunningServer } from '../start-server.js';
import { endHardAfter } from './hard-end.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * SIGHUP reloads what can be reloaded and never ends the server: without a listener the system would. A signal that arrives
 * during the start takes effect after it.
 */
export function reloadOnHangup(starting: Promise<RunningServer>): void {
  let reloading: Promise<void> = starting.then(
    () => undefined,
    () => undefined, // A failed start is reported by its caller.
  );
  process.on('SIGHUP', () => {
    reloading = reloading
      .then(() => starting)
      .then(
        (server) => server.reload(),
        () => undefined,
      );
  });
}

/** SIGUSR1 starts and ends a log at `debug`; without a listener Node would open its debugger. */
export function toggleDebugOnSignal({ toggleDebugLog }: RunningServer): void {
  if (process.platform !== 'win32') process.on('SIGUSR1', toggleDebugLog);
}

/**
 * The first signal closes the server in order, once it has started; a second one does not wait for running requests any
 * more. To be called before whoever may send a signal hears that the server listens.
 * @param options.endMs so long after the first signal the process ends in any case.
 * @param options.onStop called at the first signal.
 * @returns a promise of the closed server: the process then ends by itself with code 0.
 */
export function closeOnSignals(
  server: RunningServer | Promise<RunningServer>,
  { endMs, onStop }: { readonly endMs?: number; readonly onStop?: () => void } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const force = new AbortController();
    let signalCount = 0;
    const onSignal = (): void => {
      signalCount += 1;
      if (signalCount > 1) {
        force.abort();
        return;
      }
      onStop?.();
      if (endMs !== undefined) endHardAfter(endMs);
      Promise.resolve(server)
        .then((running) => running.close(force.signal))
        .finally(() => {
          for (const signal of SIGNALS) process.removeListener(signal, onSignal);
        })
        .then(resolve, reject);
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
  });
}
