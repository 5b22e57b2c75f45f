import type { Clock } from '../clock/clock.js';
import type { Logger } from '../log/logger.js';

/**
 * Reads a state immediately and every `intervalMs`, one read at a time, and notifies on each change. Only the first
 * of consecutive failures is logged.
 */
export function watchState(
  options: { readonly clock: Clock; readonly log: Logger; readonly intervalMs: number },
  read: () => unknown,
  notify: (state: unknown) => void,
): Disposable {
  let lastText: string | undefined;
  let isDisposed = false;
  let isReading = false;
  let hasFailed = false;
  const compare = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      const state = await read();
      hasFailed = false;
      const text = JSON.stringify(state);
      if (isDisposed || text === lastText) return;
      lastText = text;
      notify(state);
    } catch (err) {
      if (!isDisposed && !hasFailed)
        options.log.warn({ err }, 'cannot read the state for live updates of the console');
      hasFailed = true;
    } finally {
      isReading = false;
    }
  };
  void compare();
  const timer = options.clock.every(options.intervalMs, compare);
  return {
    [Symbol.dispose]() {
      isDisposed = true;
      timer[Symbol.dispose]();
    },
  };
}
