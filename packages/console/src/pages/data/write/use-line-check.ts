import { lineRunner } from '@plinth/console-core/api/line-runner.js';
import type { LineCheck } from '@plinth/line-protocol';
import { useCallback, useEffect, useRef, useState } from 'react';

const NOTHING: LineCheck = {
  ...{ lineCount: 0, problems: [], problemCount: 0 },
  ...{ tables: [], tableCount: 0 },
};
const LOOK_AFTER_MS = 120;

/** Returns the latest check of the typed lines. It runs in a worker after typing pauses, one check at a time. */
export function useLineCheck(textOf: () => string): {
  readonly check: LineCheck;
  readonly error: unknown;
  readonly recheck: () => void;
} {
  const [seen, setSeen] = useState<{ check: LineCheck; error?: unknown }>({ check: NOTHING });
  const state = useRef({ textOf, timer: 0, isWanted: false, isRunning: false });
  state.current.textOf = textOf;
  useEffect(() => () => clearTimeout(state.current.timer), []);
  const run = useCallback(async () => {
    const now = state.current;
    now.isRunning = true;
    while (now.isWanted) {
      now.isWanted = false;
      try {
        setSeen({ check: await lineRunner.check(now.textOf()) });
      } catch (error) {
        setSeen({ check: NOTHING, error });
      }
    }
    now.isRunning = false;
  }, []);
  const recheck = useCallback(() => {
    const now = state.current;
    now.isWanted = true;
    clearTimeout(now.timer);
    now.timer = window.setTimeout(() => {
      if (!now.isRunning) void run();
    }, LOOK_AFTER_MS);
  }, [run]);
  return { check: seen.check, error: seen.error, recheck };
}
