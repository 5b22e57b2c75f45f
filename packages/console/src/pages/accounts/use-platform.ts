import { fetchPlatforms } from '@plinth/console-core/api/accounts.js';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';

/** Returns the platform and mode in the URL, or the first platform in test mode. */
export function usePlatform() {
  const search = useSearch({ strict: false }) as Record<string, string>;
  const platforms = useQuery({ queryKey: ['accounts', 'platforms'], queryFn: fetchPlatforms });
  const platform = search['platform'] ?? platforms.data?.[0]?.id ?? '';
  return { platforms, platform, isLive: search['mode'] === 'live' };
}
