import type { Clock } from '../clock/clock.js';
import type { Logger } from '../log/logger.js';

/**
 * Looks at something at once and every `intervalMs`, one look at a time, and tells of it whenever it is different. Of looks that
 * fail one after the other the first is logged.
 */
export function watchState(
  at: { readonly clock: Clock; readonly log: Logger; readonly intervalMs: number },
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
      if (!isOver && !hasFailed) at.log.warn({ err }, 'state for live pages not read');
      hasFailed = true;
    } finally {
      isLooking = false;
    }
  };
  void look();
  const looking = at.clock.every(at.intervalMs, look);
  return {
    [Symbol.dispose]() {
      isOver = true;
      looking[Symbol.dispose]();
    },
  };
}
