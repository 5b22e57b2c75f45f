import { ACCOUNTS_API } from '@plinth/accounts';
import { GAMEDATA_API } from '@plinth/gamedata';
import { type ApiDescription, type ApiDocs, describeApi } from '@plinth/kernel';
import { RATE_LIMIT_API } from '@plinth/ratelimit';
import { TSDB_API } from '@plinth/tsdb';
import { WEBHOOKS_API } from '@plinth/webhooks';
import type { RegisteredRoute } from '../router.js';

const OPERATOR_API: ApiDocs = {
  title: 'Plinth operator API',
  description:
    'Apps, identities, credentials, backups and server-wide pages. Each service has its own API description.',
};

/** Titles by the `api` name in route groups. */
const API_TITLES = {
  accounts: ACCOUNTS_API,
  gamedata: GAMEDATA_API,
  operator: OPERATOR_API,
  ratelimit: RATE_LIMIT_API,
  tsdb: TSDB_API,
  webhooks: WEBHOOKS_API,
} as const satisfies Readonly<Record<string, ApiDocs>>;

export type ApiName = keyof typeof API_TITLES;

/** Returns the OpenAPI description of the routes whose table has the API `name`. */
export const describeOne = (name: ApiName, served: readonly RegisteredRoute[]): ApiDescription =>
  describeApi(
    API_TITLES[name],
    served.filter(({ table }) => table.api === name),
  );

/** By API name. */
export const describeAll = (
  served: readonly RegisteredRoute[],
): Readonly<Record<ApiName, ApiDescription>> =>
  Object.fromEntries(
    Object.keys(API_TITLES).map((name) => [name, describeOne(name as ApiName, served)]),
  ) as Record<ApiName, ApiDescription>; // its keys are the names
