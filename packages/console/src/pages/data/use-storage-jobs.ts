import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Storage } from '../../api/storage.js';
import { type LiveUse, takeState, useLive } from '../../components/live/use-live.js';

const LISTS_MS = 5000;

/** Keeps all that is shown of storage true: what the server tells at once, lists of tables and files when they have changed. */
export function useStorageJobs(): LiveUse {
  const client = useQueryClient();
  const listedMs = useRef(0);
  const all = (...key: string[]): void => void client.invalidateQueries({ queryKey: key });
  return useLive('jobs', {
    events(events) {
      const now = events.at(-1)?.data as Storage | undefined;
      if (now === undefined) return;
      const before = client.getQueryData<Storage>(['tsdb', 'storage']);
      void takeState(client, ['tsdb', 'storage'], now);
      const hasMoved = before === undefined || stageOf(before) !== stageOf(now);
      const hasMore = before?.buffered_bytes !== now.buffered_bytes;
      // Rows come all the time; the lists are long.
      if (!hasMoved && (!hasMore || performance.now() - listedMs.current < LISTS_MS)) return;
      listedMs.current = performance.now();
      all('tsdb', 'tables');
      void client.invalidateQueries({
        queryKey: ['tsdb', 'storage'],
        predicate: ({ queryKey }) => queryKey.length > 2,
      });
    },
    reset() {
      all('tsdb', 'storage');
      all('tsdb', 'tables');
    },
  });
}

/** Another one: files may be others. */
const stageOf = ({ flush, compaction }: Storage): string => JSON.stringify([flush, compaction]);
