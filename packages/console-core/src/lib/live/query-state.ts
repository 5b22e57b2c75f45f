import type { QueryClient, QueryFilters, QueryKey } from '@tanstack/react-query';

/**
 * Replaces the result of a query. A fetch in progress is canceled, because its older result would
 * arrive last.
 */
export async function takeState<T>(
  client: QueryClient,
  queryKey: QueryKey,
  state: T,
): Promise<void> {
  await client.cancelQueries({ queryKey, exact: true });
  client.setQueryData<T>(queryKey, state);
}

/**
 * Fetches queries again. Fetches in progress are canceled: their results can be older, and
 * `invalidateQueries` waits for the first fetch of a query instead.
 */
export async function reload(client: QueryClient, filters: QueryFilters): Promise<void> {
  await client.cancelQueries(filters);
  await client.invalidateQueries(filters);
}
