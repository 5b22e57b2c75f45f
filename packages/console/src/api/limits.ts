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
  readonly ban: Omit<Ban, 'identity'> | null;
}

const LIMITS = '/ops/v1/rate-limits';
const of = (identity: string): string => `${LIMITS}/${encodeURIComponent(identity)}`;

export const fetchTop = async (
  resource: string,
): Promise<readonly (Bucket & { readonly identity: string })[]> =>
  (
    await sendForJson<{ top: (Bucket & { identity: string })[] }>(`${LIMITS}/top`, {
      query: { resource, limit: 50 },
    })
  ).top;

export const fetchBans = async (): Promise<readonly Ban[]> =>
  (await sendForJson<{ bans: Ban[] }>(`${LIMITS}/bans`)).bans;

export const fetchUsage = (identity: string): Promise<Usage> => sendForJson(of(identity));

/** Resets all counters of an identity. */
export const resetUsage = (identity: string): Promise<unknown> =>
  send(`${of(identity)}/reset`, { method: 'POST' });

export const ban = (identity: string, seconds: number): Promise<unknown> =>
  send(`${LIMITS}/bans`, { body: { identity, duration_seconds: seconds } });

export const liftBan = (identity: string): Promise<unknown> =>
  send(`${LIMITS}/bans/${encodeURIComponent(identity)}`, { method: 'DELETE' });
