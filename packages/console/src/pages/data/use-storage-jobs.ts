import type { Storage } from '@plinth/console-core/api/storage.js';
import { Paced } from '@plinth/console-core/lib/live/paced.js';
import { reload, takeState } from '@plinth/console-core/lib/live/query-state.js';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type LiveUse, useLive } from '../../components/live/use-live.js';

const LISTS_MS = 5000;

/** Keeps storage pages up to date: job states from each event, lists of tables and files after they have changed. */
export function useStorageJobs(): LiveUse {
  const client = useQueryClient();
  const [lists] = useState(
    () =>
      new Paced(() => {
        void client.invalidateQueries({ queryKey: ['tsdb', 'tables'] });
        void client.invalidateQueries({
          queryKey: ['tsdb', 'storage'],
          predicate: ({ queryKey }) => queryKey.length > 2,
        });
      }, LISTS_MS),
  );
  useEffect(() => () => lists.stop(), [lists]);
  return useLive('jobs', {
    events(events) {
      const now = events.at(-1)?.data as Storage | undefined;
      if (now === undefined) return;
      const before = client.getQueryData<Storage>(['tsdb', 'storage']);
      void takeState(client, ['tsdb', 'storage'], now);
      if (before === undefined || stageOf(before) !== stageOf(now)) lists.now();
      // Rows arrive constantly, so the long lists are refreshed at a limited rate.
      else if (before.buffered_bytes !== now.buffered_bytes) lists.request();
    },
    reset() {
      void reload(client, { queryKey: ['tsdb', 'storage'] });
      void reload(client, { queryKey: ['tsdb', 'tables'] });
    },
  });
}

/** Returns a string that changes when a flush or compaction starts or ends, after which the files may have changed. */
const stageOf = ({ flush, compaction }: Storage): string => JSON.stringify([flush, compaction]);
