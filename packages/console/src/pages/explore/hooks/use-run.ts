import {
  type Progress,
  type Result,
  resultRunner,
} from '@plinth/console-core/api/result-runner.js';
import type { QueryText } from '@plinth/console-core/api/tsdb.js';
import { Cancelled } from '@plinth/console-core/api/worker-channel.js';
import { errorPosition } from '@plinth/console-core/lib/query/error-position.js';
import { expandMacros } from '@plinth/console-core/lib/query/macros.js';
import { parametersJson } from '@plinth/console-core/lib/query/parameters.js';
import {
  type RangeText,
  resolveRange,
  type TimeRange,
} from '@plinth/console-core/lib/time/time-range.js';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type ExploreSearch, languageOf, rangeOf } from '../explore-search.js';
import { addToHistory } from '../run-history.js';

/** A query with the text that was sent. */
export interface Ran {
  readonly query: QueryText;
  readonly typed: string;
  readonly range: TimeRange;
  /** The time range as it appears in the URL. */
  readonly requested: RangeText;
}

export interface RunState {
  readonly isRunning: boolean;
  readonly progress: Progress | undefined;
  readonly startMs: number;
  /** The previous result while another query runs. */
  readonly result: (Result & { readonly ran: Ran }) | undefined;
  readonly error: unknown;
  readonly problem: { readonly position: number; readonly message: string } | undefined;
  /** The query that the server rejected. */
  readonly failed: Ran | undefined;
}

const IDLE: RunState = {
  isRunning: false,
  progress: undefined,
  startMs: 0,
  result: undefined,
  error: undefined,
  problem: undefined,
  failed: undefined,
};

export function useRun(maxPoints: () => number) {
  const [state, setState] = useState<RunState>(IDLE);
  const running = useRef<AbortController | undefined>(undefined);
  const cancel = useCallback(() => running.current?.abort(), []);
  useEffect(() => cancel, [cancel]);
  const run = async (search: ExploreSearch): Promise<void> => {
    const { q = '', db = '' } = search;
    const requested = rangeOf(search);
    const range = resolveRange(requested, Date.now());
    if (q.trim() === '' || db === '' || range === undefined) return;
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const language = languageOf(search);
    const expanded = expandMacros(q, { language, range, maxPoints: maxPoints() });
    const params = parametersJson(search, q, language);
    const query = { db, lang: language, text: expanded.text, params };
    const ran = { query, typed: q, range, requested };
    const startMs = performance.now();
    setState((before) => ({ ...before, isRunning: true, startMs, progress: undefined }));
    const note = (rowCount: number | undefined, error: string | undefined) =>
      addToHistory({
        ...{ atMs: Date.now(), db, lang: language, text: q, ...requested },
        ...{ totalMs: performance.now() - startMs, rowCount, error },
      });
    try {
      const result = await resultRunner.run(ran.query, {
        signal: controller.signal,
        onProgress: (progress) => setState((before) => ({ ...before, progress })),
      });
      setState({ ...IDLE, result: { ...result, ran } });
      await note(result.frame.rowCount, undefined);
    } catch (error) {
      if (error instanceof Cancelled) {
        if (running.current === controller)
          setState((before) => ({ ...before, isRunning: false, progress: undefined }));
        return;
      }
      const message = error instanceof Error ? error.message : String(error);
      const place = errorPosition(message, expanded.text);
      const problem =
        place === undefined ? undefined : { position: expanded.placeOf(place), message };
      setState((before) => ({ ...before, isRunning: false, error, problem, failed: ran }));
      await note(undefined, message);
    }
  };
  const clear = useCallback(() => setState(IDLE), []);
  return { state, run, cancel, clear };
}
