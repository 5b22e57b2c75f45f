import { type Follower, type LiveEvent, live } from '@plinth/console-core/api/live.js';
import { reload, takeState } from '@plinth/console-core/lib/live/query-state.js';
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';

const POLLING_MS = 5000;
/** Events are grouped, so that a page renders at most once in this interval. */
const DRAWING_MS = 100;

export interface LiveUse {
  /** The polling interval of the query; `false` while the stream works. */
  readonly refetchInterval: number | false;
  /** The update mode of the page, as shown to the user. */
  readonly statusText: string;
}

/** Follows a topic while the component is mounted. Events arrive in groups. @param topic empty for none. */
export function useLive(
  topic: string,
  options: { readonly events: (events: readonly LiveEvent[]) => void; readonly reset: () => void },
): LiveUse {
  const status = useSyncExternalStore(live.subscribe, () => live.status(topic));
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    if (topic === '') return undefined;
    let waiting: LiveEvent[] = [];
    let drawing: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      drawing = undefined;
      const events = waiting;
      waiting = [];
      latest.current.events(events);
    };
    const follower: Follower = {
      onEvent(event) {
        waiting.push(event);
        drawing ??= setTimeout(draw, DRAWING_MS);
      },
      onReset: () => latest.current.reset(),
    };
    const unfollow = live.follow(topic, follower);
    return () => {
      clearTimeout(drawing);
      unfollow();
    };
  }, [topic]);
  const isPolling = topic !== '' && status === 'polling';
  return {
    refetchInterval: isPolling ? POLLING_MS : false,
    statusText: isPolling ? 'refreshed every 5 s, because live updates are unavailable' : 'live',
  };
}

/** Keeps the result of a query equal to the last event of a topic. */
export function useLiveState<T>(
  topic: string,
  options: { readonly queryKey: QueryKey; readonly read: (data: LiveEvent['data']) => T },
): LiveUse {
  const client = useQueryClient();
  return useLive(topic, {
    events(events) {
      const last = events.at(-1);
      if (last !== undefined) void takeState(client, options.queryKey, options.read(last.data));
    },
    reset: () => void reload(client, { queryKey: options.queryKey, exact: true }),
  });
}
