import type { LiveEvent } from '@plinth/console-core/api/live.js';
import { useEffect, useState } from 'react';

/** Sampling is reported once a second, so after this time without a report it has stopped. */
const SAMPLE_MS = 2500;

/** Returns whether the server currently omits events of a topic because there are too many. */
export function useSampled(): {
  /** Omitted events per second. */
  readonly droppedCount: number;
  note(events: readonly LiveEvent[]): void;
} {
  const [sample, setSample] = useState({ dropped: 0 });
  useEffect(() => {
    if (sample.dropped === 0) return undefined;
    const timer = setTimeout(() => setSample({ dropped: 0 }), SAMPLE_MS);
    return () => clearTimeout(timer);
  }, [sample]);
  return {
    droppedCount: sample.dropped,
    note(events) {
      const last = events.findLast(({ event }) => event === 'sampled');
      if (last !== undefined) setSample({ dropped: last.data.dropped });
    },
  };
}
