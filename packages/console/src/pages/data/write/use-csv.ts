import { type CsvRun, lineRunner } from '@plinth/console-core/api/line-runner.js';
import { Cancelled } from '@plinth/console-core/api/worker-channel.js';
import type { CsvProgress } from '@plinth/console-core/lib/line-protocol/messages.js';
import type { CsvHead, CsvMapping } from '@plinth/line-protocol';
import { useCallback, useEffect, useRef, useState } from 'react';

export interface CsvRunState {
  readonly phase: 'idle' | 'running' | 'done' | 'cancelled' | 'failed';
  readonly progress?: CsvProgress | undefined;
  readonly error?: unknown;
}

export const IDLE: CsvRunState = { phase: 'idle' };
const LOOK_AFTER_MS = 250;

/** Reads the header and the first rows of a file. */
export function useCsvHead(file: File | undefined): {
  readonly head: CsvHead | undefined;
  readonly error: unknown;
} {
  const [state, setState] = useState<{ file?: File; head?: CsvHead; error?: unknown }>({});
  useEffect(() => {
    let hasEnded = false;
    const settle = (rest: { head?: CsvHead; error?: unknown }) => {
      if (!hasEnded && file !== undefined) setState({ file, ...rest });
    };
    if (file !== undefined) {
      lineRunner.head(file).then(
        (head) => settle({ head }),
        (error: unknown) => settle({ error }),
      );
    }
    return () => {
      hasEnded = true;
    };
  }, [file]);
  const isOfFile = file !== undefined && state.file === file;
  return { head: isOfFile ? state.head : undefined, error: isOfFile ? state.error : undefined };
}

/** Processes one file at a time and tracks the progress. */
export function useCsvRun() {
  const [state, setState] = useState<CsvRunState>(IDLE);
  const running = useRef<AbortController | undefined>(undefined);
  const cancel = useCallback(() => running.current?.abort(), []);
  useEffect(() => cancel, [cancel]);
  const start = useCallback(
    async (work: (options: Pick<CsvRun, 'signal' | 'onProgress'>) => Promise<CsvProgress>) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const set = (next: (before: CsvRunState) => CsvRunState) => {
        if (running.current === controller) setState(next);
      };
      set(() => ({ phase: 'running' }));
      try {
        const progress = await work({
          signal: controller.signal,
          onProgress: (progress) => set(() => ({ phase: 'running', progress })),
        });
        set(() => ({ phase: 'done', progress }));
      } catch (error) {
        const phase = error instanceof Cancelled ? 'cancelled' : 'failed';
        set(({ progress }) => ({ phase, progress, error }));
      }
    },
    [],
  );
  const reset = useCallback(() => {
    running.current?.abort();
    running.current = undefined;
    setState(IDLE);
  }, []);
  return { state, start, cancel, reset };
}

/** Counts the valid rows of the file; restarts when the mapping changes. */
export function useCsvPreview(
  file: File | undefined,
  mapping: CsvMapping | undefined,
): CsvRunState {
  const { state, start, reset } = useCsvRun();
  useEffect(() => {
    if (file === undefined || mapping === undefined) return;
    const timer = setTimeout(
      () => void start((how) => lineRunner.preview({ file, mapping, ...how })),
      LOOK_AFTER_MS,
    );
    return () => {
      clearTimeout(timer);
      reset();
    };
  }, [file, mapping, start, reset]);
  return state;
}
