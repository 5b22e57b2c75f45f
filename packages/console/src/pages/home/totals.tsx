import { fetchCollections, fetchVersions } from '@plinth/console-core/api/gamedata.js';
import { queryRows } from '@plinth/console-core/api/tsdb.js';
import { countOf, countText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

const REFRESH_MS = 15_000;

/** The server counts its accounts for its own metrics, at most once a minute. */
const ACCOUNTS = `SELECT sum(CASE WHEN state = 'open' THEN accounts_accounts END) AS accounts,
  sum(accounts_with_deadline) AS due
FROM metrics WHERE time = (
  SELECT max(time) FROM metrics
  WHERE accounts_accounts IS NOT NULL AND time >= now() - INTERVAL '10 minutes'
)`;

/** One line about the accounts and the game data. A service without figures is left out. */
export function Totals({ services }: { readonly services: readonly string[] }) {
  const accounts = useQuery({
    queryKey: ['accounts', 'totals'],
    queryFn: async () => {
      const query = { db: '_internal', lang: 'sql', text: ACCOUNTS } as const;
      const [row] = await queryRows<{ accounts: number | null; due: number | null }>(query);
      return row ?? null;
    },
    enabled: services.includes('accounts') && services.includes('tsdb'),
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  const gamedata = useQuery({
    queryKey: ['gamedata', 'totals'],
    queryFn: async () => {
      const [versions, collections] = await Promise.all([fetchVersions(), fetchCollections()]);
      return {
        version: Math.max(0, ...versions.map(({ version }) => version)),
        draftCount: collections.reduce((sum, { changed }) => sum + changed, 0),
      };
    },
    enabled: services.includes('gamedata'),
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  const count = accounts.data?.accounts ?? undefined;
  if (count === undefined && gamedata.data === undefined) return null;
  return (
    <p className="row wrap home-totals">
      {count !== undefined && (
        <span>
          <Link to="/accounts">Accounts</Link> {countText(count)} ·{' '}
          {countText(accounts.data?.due ?? 0)} with deadlines
        </span>
      )}
      {gamedata.data && (
        <span>
          <Link to="/gamedata">Game data</Link> v{gamedata.data.version} ·{' '}
          {countOf(gamedata.data.draftCount, 'draft')}
        </span>
      )}
    </p>
  );
}
