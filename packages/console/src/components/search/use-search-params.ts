import { useNavigate, useRouter } from '@tanstack/react-router';
import { useMemo, useSyncExternalStore } from 'react';

export type SearchParams = Readonly<Record<string, string>>;

/**
 * Returns the search parameters of the URL, and a function that changes some of them. `useSearch` returns a change only
 * after the router has rendered it. Until then, React would restore the previous value of an input, and fast typing
 * would lose characters. This hook returns the change in the same event.
 */
export function useSearchParams(): readonly [
  params: SearchParams,
  change: (next: SearchParams) => void,
] {
  const { history, options } = useRouter();
  const text = useSyncExternalStore(history.subscribe, () => history.location.search);
  const params = useMemo(() => options.parseSearch(text) as SearchParams, [options, text]);
  const navigate = useNavigate();
  const change = (next: SearchParams): void =>
    void navigate({
      ...{ to: '.', replace: true, state: true },
      search: (before: SearchParams) => ({ ...before, ...next }),
    } as never);
  return [params, change];
}
