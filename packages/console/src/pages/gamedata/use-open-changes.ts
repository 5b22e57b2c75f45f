import { fetchHistory, type HistoryEntry } from '@plinth/console-core/api/gamedata.js';
import { useQuery } from '@tanstack/react-query';

/** Fetches changes that are neither published nor discarded, newest first. */
export function useOpenChanges() {
  const history = useQuery({
    queryKey: ['gamedata', 'history'],
    queryFn: () => fetchHistory(),
  });
  const open = (history.data?.entries ?? []).filter(isOpen);
  return { history, open };
}

export const isOpen = ({ version, discarded, type }: HistoryEntry): boolean =>
  version === undefined && discarded !== true && type !== null;
