import type { RunningServer } from '../start-server.js';
import { endHardAfter } from './hard-end.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * SIGHUP reloads certificates and never stops the server; without a listener the process would exit. A signal during startup
 * takes effect afterwards.
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

/** SIGUSR1 toggles logging at `debug`; without a listener Node would open its debugger. */
export function toggleDebugOnSignal({ toggleDebugLog }: RunningServer): void {
  if (process.platform !== 'win32') process.on('SIGUSR1', toggleDebugLog);
}

/**
 * The first signal closes the started server in order; a second one stops waiting for running requests. Must be called before the
 * server reports readiness.
 * @param options.endMs time after the first signal at which the process exits in any case.
 * @param options.onStop called at the first signal.
 * @returns resolves when the server is closed; the process then exits with code 0.
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
