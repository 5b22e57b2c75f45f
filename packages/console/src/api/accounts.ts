import type { Account, AccountRow } from '../lib/account.js';
import { send, sendForJson } from './client.js';
import { Problem } from './problem.js';

export interface Platform {
  readonly id: string;
  readonly name: string;
}

export interface PlatformKey {
  readonly id: string;
  readonly kind: string;
  readonly livemode: boolean;
  readonly last4: string;
  readonly created: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

const PLATFORMS = '/ops/v1/accounts/platforms';
const ofPlatform = (platform: string): string => `${PLATFORMS}/${encodeURIComponent(platform)}`;
const ofAccount = (platform: string, account: string): string =>
  `${ofPlatform(platform)}/accounts/${encodeURIComponent(account)}`;

export const fetchPlatforms = async (): Promise<readonly Platform[]> =>
  (await sendForJson<{ data: Platform[] }>(PLATFORMS)).data;

const PAGE_SIZE = 50;

/** A page of accounts, newest first, with the query of the next one. */
export async function fetchAccounts(
  platform: string,
  query: { readonly livemode: boolean; readonly closed: boolean; readonly page: string },
): Promise<{ readonly accounts: readonly AccountRow[]; readonly next: string | undefined }> {
  const { page, ...filters } = query;
  const found = await sendForJson<{ data: AccountRow[]; next_page_url: string | null }>(
    `${ofPlatform(platform)}/accounts`,
    { query: { ...filters, limit: PAGE_SIZE, page: page === '' ? undefined : page } },
  );
  const next = found.next_page_url;
  return {
    accounts: found.data,
    next:
      next === null
        ? undefined
        : (new URL(next, location.origin).searchParams.get('page') ?? undefined),
  };
}

export const fetchAccount = async (platform: string, account: string): Promise<Account> =>
  (await sendForJson<{ account: Account }>(ofAccount(platform, account))).account;

export const closeAccount = (platform: string, account: string): Promise<unknown> =>
  send(`${ofAccount(platform, account)}/close`, { method: 'POST' });

/** The platform of an account; `undefined` for an unknown id. */
export async function findPlatform(account: string): Promise<string | undefined> {
  for (const { id } of await fetchPlatforms()) {
    try {
      await fetchAccount(id, account);
      return id;
    } catch (error) {
      if (!(error instanceof Problem && error.status === 404)) throw error;
    }
  }
  return undefined;
}

export const fetchKeys = async (platform: string): Promise<readonly PlatformKey[]> =>
  (await sendForJson<{ data: PlatformKey[] }>(`${ofPlatform(platform)}/keys`)).data;

/** @returns the key, which is returned only once. */
export const createKey = (
  platform: string,
  key: { readonly kind: string; readonly livemode: boolean },
): Promise<{ readonly value: string }> =>
  sendForJson(`${ofPlatform(platform)}/keys`, { body: key });

export const revokeKey = (platform: string, key: string): Promise<unknown> =>
  send(`${ofPlatform(platform)}/keys/${encodeURIComponent(key)}`, { method: 'DELETE' });
