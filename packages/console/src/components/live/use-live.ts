import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { type Follower, type LiveEvent, live } from '../../api/live.js';

const POLLING_MS = 5000;
/** A page is drawn so often at most. */
const DRAWING_MS = 100;

export interface LiveUse {
  /** For a query that has to ask, because nothing comes by itself. */
  readonly refetchInterval: number | false;
  /** How the page is kept true, for its reader. */
  readonly statusText: string;
}

/** Follows a topic while the component is there; events come in groups. @param topic empty: none. */
export function useLive(
  topic: string,
  on: { readonly events: (events: readonly LiveEvent[]) => void; readonly reset: () => void },
): LiveUse {
  const status = useSyncExternalStore(live.subscribe, () => live.status(topic));
  const latest = useRef(on);
  latest.current = on;
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
    statusText: isPolling ? 'looked at every 5 s: live updates do not come through' : 'live',
  };
}

/** Keeps the answer of a query what the last event of a topic says. */
export function useLiveState<T>(
  topic: string,
  at: { readonly queryKey: QueryKey; readonly read: (data: LiveEvent['data']) => T },
): LiveUse {
  const client = useQueryClient();
  return useLive(topic, {
    events(events) {
      const last = events.at(-1);
      if (last !== undefined) void takeState(client, at.queryKey, at.read(last.data));
    },
    reset: () => void client.invalidateQueries({ queryKey: at.queryKey, exact: true }),
  });
}

/** Makes a state the answer of a query. One that is under way may be of before, and would come last. */
export async function takeState<T>(
  client: QueryClient,
  queryKey: QueryKey,
  state: T,
): Promise<void> {
  await client.cancelQueries({ queryKey, exact: true });
  client.setQueryData<T>(queryKey, state);
}
