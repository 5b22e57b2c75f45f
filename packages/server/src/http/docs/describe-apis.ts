import { ACCOUNTS_API } from '@plinth/accounts';
import { GAMEDATA_API } from '@plinth/gamedata';
import { type ApiWords, type DescribedRoute, describeApi } from '@plinth/kernel';
import { RATE_LIMIT_API } from '@plinth/ratelimit';
import { TSDB_API } from '@plinth/tsdb';
import { WEBHOOKS_API } from '@plinth/webhooks';
import type { ServedRoute } from '../router.js';

export type Description = ReturnType<typeof describeApi>;

const OPERATOR_API: ApiWords = {
  title: 'Plinth operator API',
  description:
    'Apps, identities, credentials, backups and pages of the whole server. Operators of a service find the rest in its own description.',
};

/** By the name that tables of routes say (`api`). */
const WORDS: Readonly<Record<string, ApiWords>> = {
  accounts: ACCOUNTS_API,
  gamedata: GAMEDATA_API,
  operator: OPERATOR_API,
  ratelimit: RATE_LIMIT_API,
  tsdb: TSDB_API,
  webhooks: WEBHOOKS_API,
};

/** OpenAPI of these routes, by the name of the description. */
export function describeApis(
  served: readonly ServedRoute[],
): Readonly<Record<string, Description>> {
  const byName = new Map<string, DescribedRoute[]>();
  for (const { route, table } of served) {
    const { api, dialect } = table;
    const known = byName.get(api) ?? [];
    byName.set(api, [...known, { route, dialect }]);
  }
  return Object.fromEntries(
    Object.entries(WORDS).flatMap(([name, words]) => {
      const described = byName.get(name);
      return described === undefined ? [] : [[name, describeApi(words, described)]];
    }),
  );
}
