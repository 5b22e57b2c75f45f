import { fetchQueue, type Queue } from '@plinth/console-core/api/webhooks.js';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useLiveState } from '../../components/live/use-live.js';

/** Fetches the delivery queue of an app. */
export function useQueue(app: string): UseQueryResult<Queue> {
  const queryKey = ['webhooks', 'queue', app];
  const topic = `queue:${encodeURIComponent(app)}`;
  const { refetchInterval } = useLiveState<Queue>(topic, { queryKey, read: (data) => data });
  return useQuery({ queryKey, queryFn: () => fetchQueue(app), refetchInterval });
}
