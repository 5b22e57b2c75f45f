import { send, sendForJson } from './client.js';

export interface Ban {
  readonly identity: string;
  /** Seconds since 1970. */
  readonly until: number;
  readonly level: number;
}

export interface Bucket {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly reset: number;
}

export interface Usage {
  readonly identity: string;
  readonly buckets: Readonly<Record<string, Bucket>>;
  readonly secondary: SecondaryUsage;
  readonly ban: Omit<Ban, 'identity'> | null;
  readonly rejected: RejectionCount | null;
}

/** Rejected requests on this node in the current hour and the hour before. */
export interface RejectionCount {
  readonly current: number;
  readonly previous: number;
  /** The requests of both hours by exceeded limit. */
  readonly limits: Readonly<Record<string, number>>;
  /** Seconds since 1970. */
  readonly last: number;
}

export interface Rejections {
  readonly rejected: readonly (RejectionCount & { readonly identity: string })[];
  /** The number of counted callers, including those that are not listed. */
  readonly identities: number;
  /** Requests of replaced callers. */
  readonly other_requests: number;
}

/** Counters of the secondary limits. */
export interface SecondaryUsage {
  readonly concurrency: number;
  readonly cpu_ms: number;
  readonly content_minute: number;
  readonly content_hour: number;
  readonly heavy: number;
  readonly points: readonly { readonly endpoint: string; readonly points: number }[];
}

/** A rate-limited route with its cost. */
export interface LimitedRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly endpoint: string;
  readonly resource: string;
  readonly cost: number;
  readonly points: number;
  readonly content: boolean;
  readonly heavy: number;
  readonly exempt: boolean;
}

/** The decision about a request, and the response if it is rejected. */
export interface Decision {
  readonly allowed: boolean;
  /** The exceeded limit; `null` if the request is allowed. */
  readonly limit_kind: string | null;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object | null;
  readonly retry_after: number | null;
}

/** The decision about the first rejected request of several, or about the last one if all are allowed. */
export interface Simulation extends Decision {
  readonly allowed_count: number;
}

/** The server's maximum. */
export const MAX_SIMULATED_COUNT = 1000;

const LIMITS = '/ops/v1/rate-limits';
const of = (identity: string): string => `${LIMITS}/${encodeURIComponent(identity)}`;

/** The usage of a caller. The limit and its reset, in seconds since 1970, are null for unlimited callers. */
export interface TopCaller {
  readonly identity: string;
  readonly used: number;
  readonly limit: number | null;
  readonly reset: number | null;
}

/** Callers that have used at least this share of their limit are shown as near the limit. */
export const NEAR_LIMIT = 0.8;

/** Returns the share of its limit that a caller has used. */
export const usedShare = ({ used, limit }: TopCaller): number =>
  limit === null ? 0 : limit === 0 ? 1 : used / limit;

export const MAX_TOP_CALLERS = 50;

export const fetchTop = async (resource: string): Promise<readonly TopCaller[]> =>
  (
    await sendForJson<{ top: TopCaller[] }>(`${LIMITS}/top`, {
      query: { resource, limit: MAX_TOP_CALLERS },
    })
  ).top;

export const fetchRejections = (limit: number): Promise<Rejections> =>
  sendForJson(`${LIMITS}/rejected`, { query: { limit } });

export const MAX_BANS = 100;

/** Fetches the bans with the latest end times. */
export const fetchBans = async (): Promise<readonly Ban[]> =>
  (await sendForJson<{ bans: Ban[] }>(`${LIMITS}/bans`, { query: { limit: MAX_BANS } })).bans;

export const fetchUsage = (identity: string): Promise<Usage> => sendForJson(of(identity));

/** Resets all counters of an identity. */
export const resetUsage = (identity: string): Promise<unknown> =>
  send(`${of(identity)}/reset`, { method: 'POST' });

export const ban = (identity: string, seconds: number): Promise<unknown> =>
  send(`${LIMITS}/bans`, { body: { identity, duration_seconds: seconds } });

export const liftBan = (identity: string): Promise<unknown> =>
  send(`${LIMITS}/bans/${encodeURIComponent(identity)}`, { method: 'DELETE' });

export const fetchLimitedRoutes = async (): Promise<readonly LimitedRoute[]> =>
  (await sendForJson<{ routes: LimitedRoute[] }>(`${LIMITS}/routes`)).routes;

/** Gets the decision about `count` requests one after another, without counting them. */
export const simulate = (
  identity: string,
  route: LimitedRoute,
  count: number,
): Promise<Simulation> => {
  const { method, endpoint, resource, cost, points, content, heavy } = route;
  return sendForJson(`${LIMITS}/check`, {
    body: {
      ...{ identity, method, endpoint, resource, cost, points, content, heavy },
      // A dry run checks the concurrency slots of the identity but takes none.
      ...{ lease: true, dry_run: true, count },
    },
  });
};
