import type { Clock } from '../clock/clock.js';
import type { Logger } from '../log/logger.js';

/** Looks at something at once and every `intervalMs`, and tells of it whenever it is different. */
export function watchState(
  at: { readonly clock: Clock; readonly log: Logger; readonly intervalMs: number },
  read: () => unknown,
  tell: (state: unknown) => void,
): Disposable {
  let told: string | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    try {
      const state = await read();
      const text = JSON.stringify(state);
      if (isOver || text === told) return;
      told = text;
      tell(state);
    } catch (err) {
      at.log.warn({ err }, 'state for live pages not read');
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
