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
  let told: string | undefined;
  let isOver = false;
  let isLooking = false;
  let hasFailed = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const state = await read();
      hasFailed = false;
      const text = JSON.stringify(state);
      if (isOver || text === told) return;
      told = text;
      notify(state);
    } catch (err) {
      if (!isOver && !hasFailed)
        options.log.warn({ err }, 'cannot read the state for live updates of the console');
      hasFailed = true;
    } finally {
      isLooking = false;
    }
  };
  void look();
  const looking = options.clock.every(options.intervalMs, look);
  return {
    [Symbol.dispose]() {
      isOver = true;
      looking[Symbol.dispose]();
    },
  };
}
