import { EventStreamParser } from '@plinth/kernel/event-stream';
import {
  MAX_EVENT_LENGTH,
  retryDelayMs,
  STEADY_MS,
  STREAM_TIMEOUT_MS,
} from '../lib/live/streams.js';
import { authorization, urlOf } from './client.js';
import { messageOf } from './problem.js';
import { session } from './session.js';

interface Followed {
  readonly db: string;
  readonly table: string;
  /** Called when rows were written, or when some may have been missed. */
  readonly onChange: () => void;
  /** Called with whether the stream is open; if it is not, poll the table instead. */
  readonly onLive: (isLive: boolean) => void;
  /** Called once if the server rejects the live query, which is then not sent again. */
  readonly onRefused: (message: string) => void;
}

/** Statuses after which the same request may succeed. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429]);

/**
 * Reports changes of a table with a live query, whose events stay small at any write rate. A lost stream is reopened
 * with increasing delays.
 * @returns a function that stops following the table.
 */
export function followTable(options: Followed): () => void {
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    let failureCount = 0;
    while (!stopped.signal.aborted) {
      const startMs = performance.now();
      const refusal = await read(options, stopped.signal).catch(() => undefined);
      if (stopped.signal.aborted) return;
      options.onLive(false);
      if (refusal !== undefined) {
        options.onRefused(refusal);
        return;
      }
      failureCount = performance.now() - startMs >= STEADY_MS ? 1 : failureCount + 1;
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs(failureCount)));
    }
  };
  void run();
  return () => stopped.abort();
}

/** Reads one stream to its end. @returns the error message if the server rejects the query. */
async function read(options: Followed, stopped: AbortSignal): Promise<string | undefined> {
  const current = new AbortController();
  const stop = () => current.abort();
  stopped.addEventListener('abort', stop);
  let timeout = setTimeout(stop, STREAM_TIMEOUT_MS);
  try {
    const response = await fetch(
      urlOf('/api/v3/subscribe', { db: options.db, q: queryOf(options.table) }),
      {
        ...{ headers: authorization(), signal: current.signal, cache: 'no-store' },
      },
    );
    const { status } = response;
    if (status === 401) session.refused();
    if (status >= 400 && status < 500 && !TEMPORARY.has(status))
      return messageOf(await response.text(), status);
    if (!response.ok || response.body === null) return undefined;
    const parser = new EventStreamParser(MAX_EVENT_LENGTH);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      clearTimeout(timeout);
      timeout = setTimeout(stop, STREAM_TIMEOUT_MS);
      options.onLive(true);
      // After a reconnect, `start` replaces everything that was missed.
      for (const { event } of parser.take(value))
        if (event === 'start' || event === 'bucket') options.onChange();
    }
  } finally {
    clearTimeout(timeout);
    stopped.removeEventListener('abort', stop);
    current.abort();
  }
}

function queryOf(table: string): string {
  const name = `"${table.replaceAll('"', '""')}"`;
  return `SELECT date_bin(INTERVAL '1 minute', time) AS minute, count(*) AS n FROM ${name} GROUP BY 1`;
}
