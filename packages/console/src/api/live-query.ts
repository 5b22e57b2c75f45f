import { EventStreamParser } from '../lib/live/event-stream.js';
import { authorization, urlOf } from './client.js';

const RETRY_MS = 2000;
/** The server sends a heartbeat every 15 seconds. */
const STREAM_TIMEOUT_MS = 40_000;

/**
 * Reports changes of a table by a live query, whose events stay small at any write rate.
 * @param options.onChange called when rows were written, or when some may have been missed.
 * @param options.onLive whether the stream is open; if not, poll the table instead.
 * @returns a function that stops following.
 */
export function followTable(options: {
  readonly db: string;
  readonly table: string;
  readonly onChange: () => void;
  readonly onLive: (isLive: boolean) => void;
}): () => void {
  const name = `"${options.table.replaceAll('"', '""')}"`;
  const q = `SELECT date_bin(INTERVAL '1 minute', time) AS minute, count(*) AS n FROM ${name} GROUP BY 1`;
  const stopped = new AbortController();
  const read = async (): Promise<void> => {
    const current = new AbortController();
    const stop = () => current.abort();
    stopped.signal.addEventListener('abort', stop);
    let timeout = setTimeout(stop, STREAM_TIMEOUT_MS);
    try {
      const response = await fetch(urlOf('/api/v3/subscribe', { db: options.db, q }), {
        ...{ headers: authorization(), signal: current.signal, cache: 'no-store' },
      });
      if (!response.ok || response.body === null) return;
      const parser = new EventStreamParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timeout);
        timeout = setTimeout(stop, STREAM_TIMEOUT_MS);
        options.onLive(true);
        // After a reconnect, `start` replaces everything that was missed.
        for (const { event } of parser.take(value))
          if (event === 'start' || event === 'bucket') options.onChange();
      }
    } finally {
      clearTimeout(timeout);
      stopped.signal.removeEventListener('abort', stop);
      current.abort();
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await read().catch(() => undefined);
      if (stopped.signal.aborted) return;
      options.onLive(false);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  void run();
  return () => stopped.abort();
}
