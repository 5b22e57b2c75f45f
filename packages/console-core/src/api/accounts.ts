import type {
  Account,
  AccountEvent,
  AccountRow,
  EventDelivery,
  Person,
  TestClock,
} from '../lib/account.js';
import type { Fault } from '../lib/form/fault.js';
import { pointerOf, type Values } from '../lib/form/record-fields.js';
import { type Call, send, sendForJson, unlessMissing } from './client.js';
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

interface StoredPage<Row> {
  readonly data: readonly Row[];
  readonly next_page_url: string | null;
}

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** The page parameter of the next page. */
  readonly next: string | undefined;
}

function pageOf<Row>({ data, next_page_url: next }: StoredPage<Row>): ListPage<Row> {
  if (next === null) return { rows: data, next: undefined };
  const page = new URL(next, location.origin).searchParams.get('page');
  return { rows: data, next: page ?? undefined };
}

/** Fetches a page of accounts, newest first. */
export async function fetchAccounts(
  platform: string,
  query: { readonly livemode: boolean; readonly closed: boolean; readonly page: string },
): Promise<ListPage<AccountRow>> {
  const { page, ...filters } = query;
  return pageOf(
    await sendForJson<StoredPage<AccountRow>>(`${ofPlatform(platform)}/accounts`, {
      query: { ...filters, limit: PAGE_SIZE, page: page === '' ? undefined : page },
    }),
  );
}

export const fetchAccount = async (platform: string, account: string): Promise<Account> =>
  (await sendForJson<{ account: Account }>(ofAccount(platform, account))).account;

/** What operators know about an account and its platform does not. */
export interface OperatorSide {
  readonly state: Values;
  readonly injected_requirements: readonly InjectedRequirement[];
  readonly verifications: readonly {
    readonly target: string;
    readonly status: string;
    readonly code?: string;
  }[];
  /** The time of the next change that depends on time. */
  readonly due: string | null;
}

interface NewRequirement {
  readonly description: string;
  readonly awaiting_action_from: string;
  readonly restricts: readonly {
    readonly configuration: string;
    readonly capability: string;
    readonly status: string;
  }[];
}

export interface InjectedRequirement extends NewRequirement {
  readonly id: string;
}

export const fetchOperatorSide = (platform: string, account: string): Promise<OperatorSide> =>
  sendForJson(ofAccount(platform, account));

/** Sets facts about an account, or with `verify` the outcome of a verification. */
export const saveAccountState = (
  platform: string,
  account: string,
  body: Values,
): Promise<unknown> => send(`${ofAccount(platform, account)}/state`, { method: 'PATCH', body });

export const addRequirement = (
  platform: string,
  account: string,
  body: NewRequirement,
): Promise<unknown> => send(`${ofAccount(platform, account)}/requirements`, { body });

export const removeRequirement = (
  platform: string,
  account: string,
  entry: string,
): Promise<unknown> =>
  send(`${ofAccount(platform, account)}/requirements/${encodeURIComponent(entry)}`, {
    method: 'DELETE',
  });

/** Applies the changes of all accounts of a platform that are due. */
export const applyDueChanges = (platform: string): Promise<unknown> =>
  send(`${ofPlatform(platform)}/tick`, { body: {} });

export const fetchPlatform = (platform: string): Promise<Values> =>
  sendForJson(ofPlatform(platform));

/** The server merges `body` into the settings. */
export const savePlatform = (platform: string, body: Values): Promise<unknown> =>
  send(ofPlatform(platform), { method: 'PATCH', body });

export const closeAccount = (platform: string, account: string): Promise<unknown> =>
  send(`${ofAccount(platform, account)}/close`, { method: 'POST' });

/** Returns the platform of an account; `undefined` for an unknown id. */
export async function findPlatform(account: string): Promise<string | undefined> {
  for (const { id } of await fetchPlatforms())
    if ((await unlessMissing(fetchAccount(id, account))) !== undefined) return id;
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

/** A platform in one of its modes. */
export interface Tenant {
  readonly platform: string;
  readonly isLive: boolean;
}

/** Returns the path of a platform's public API for an operator without the platform's key. */
const asPlatform = ({ platform, isLive }: Tenant): string =>
  `/ops/v1/as/platform/${encodeURIComponent(platform)}/${isLive ? 'live' : 'test'}`;
const ACCOUNTS = '/v2/core/accounts';
const CLOCKS = '/v1/test_helpers/test_clocks';

/** The account that an event is about; `undefined` for an unknown event. */
export async function findEvent(
  event: string,
): Promise<{ readonly platform: string; readonly account: string } | undefined> {
  for (const { id: platform } of await fetchPlatforms())
    for (const isLive of [false, true]) {
      const path = `${asPlatform({ platform, isLive })}/v2/core/events/${encodeURIComponent(event)}`;
      const found = await unlessMissing(
        sendForJson<{ related_object: { url: string } | null }>(path),
      );
      const account = /acct_\w+/.exec(found?.related_object?.url ?? '')?.[0];
      if (account !== undefined) return { platform, account };
    }
  return undefined;
}

/** Fetches the JSON Schemas of request bodies by name, such as `AccountUpdate`. */
export const fetchRequestSchemas = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await sendForJson<{ schemas: Record<string, unknown> }>('/ops/v1/accounts/schemas')).schemas;

/** An object as its platform receives it, with the version for the next change. */
export interface Versioned {
  readonly object: Values;
  readonly etag: string;
}

const SECTIONS = ['customer', 'merchant', 'recipient'].map((name) => `configuration.${name}`);

async function fetchVersioned(path: string, query: Call['query'] = {}): Promise<Versioned> {
  const response = await send(path, { query });
  const etag = response.headers.get('etag') ?? '';
  return { object: (await response.json()) as Values, etag };
}

/** Fetches the account with the sections that can be changed. */
export const fetchAccountToEdit = (tenant: Tenant, account: string): Promise<Versioned> => {
  const include = [...SECTIONS, 'defaults', 'identity'];
  const query = Object.fromEntries(include.map((name, index) => [`include[${index}]`, name]));
  return fetchVersioned(`${asPlatform(tenant)}${ACCOUNTS}/${encodeURIComponent(account)}`, query);
};

/** @param etag the version that was edited. The server returns 412 if the account has changed since. */
export const saveAccount = (
  tenant: Tenant,
  account: string,
  change: { readonly body: Values; readonly etag: string },
): Promise<unknown> =>
  send(`${asPlatform(tenant)}${ACCOUNTS}/${encodeURIComponent(account)}`, {
    headers: { 'if-match': change.etag },
    body: change.body,
  });

export const createAccount = (tenant: Tenant, body: Values): Promise<{ readonly id: string }> =>
  sendForJson(`${asPlatform(tenant)}${ACCOUNTS}`, { body });

const personsOf = (tenant: Tenant, account: string): string =>
  `${asPlatform(tenant)}${ACCOUNTS}/${encodeURIComponent(account)}/persons`;

/** Fetches a page of persons, newest first, with the query of the next page. */
export async function fetchPersons(
  tenant: Tenant,
  account: string,
  page: string,
): Promise<ListPage<Person>> {
  const query = { limit: PAGE_SIZE, page: page === '' ? undefined : page };
  return pageOf(await sendForJson<StoredPage<Person>>(personsOf(tenant, account), { query }));
}

export const fetchPerson = (tenant: Tenant, account: string, id: string): Promise<Versioned> =>
  fetchVersioned(`${personsOf(tenant, account)}/${encodeURIComponent(id)}`);

export const createPerson = (tenant: Tenant, account: string, body: Values): Promise<unknown> =>
  send(personsOf(tenant, account), { body });

/** @param etag as for `saveAccount`. */
export const savePerson = (
  tenant: Tenant,
  target: { readonly account: string; readonly id: string },
  change: { readonly body: Values; readonly etag: string },
): Promise<unknown> =>
  send(`${personsOf(tenant, target.account)}/${encodeURIComponent(target.id)}`, {
    headers: { 'if-match': change.etag },
    body: change.body,
  });

export const deletePerson = (tenant: Tenant, account: string, id: string): Promise<unknown> =>
  send(`${personsOf(tenant, account)}/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** Fetches a page of the events of an account or person, newest first. */
export async function fetchEvents(
  tenant: Tenant,
  object: string,
  page: string,
): Promise<ListPage<AccountEvent>> {
  const query = { limit: PAGE_SIZE, object_id: object, page: page === '' ? undefined : page };
  return pageOf(
    await sendForJson<StoredPage<AccountEvent>>(`${asPlatform(tenant)}/v2/core/events`, { query }),
  );
}

/** Fetches the last 100 deliveries to each event destination of the platform. */
export async function fetchEventDeliveries(tenant: Tenant): Promise<readonly EventDelivery[]> {
  const destinations = await sendForJson<
    StoredPage<{ readonly id: string; readonly name: string }>
  >(`${asPlatform(tenant)}/v2/core/event_destinations`, { query: { limit: 100 } });
  const found = await Promise.all(
    destinations.data.map(async ({ id, name }) => {
      const path = `${ofPlatform(tenant.platform)}/event_destinations/${encodeURIComponent(id)}/attempts`;
      const { data } = await sendForJson<{ data: Omit<EventDelivery, 'destination'>[] }>(path);
      return data.map((attempt) => ({ ...attempt, destination: name }));
    }),
  );
  return found.flat();
}

/** Fetches the newest test clocks, up to a hundred. */
export const fetchClocks = (
  tenant: Tenant,
): Promise<{ readonly data: readonly TestClock[]; readonly has_more: boolean }> =>
  sendForJson(`${asPlatform(tenant)}${CLOCKS}`, { query: { limit: 100 } });

export const fetchClockAccounts = async (
  platform: string,
  clock: string,
): Promise<readonly AccountRow[]> =>
  (
    await sendForJson<{ data: AccountRow[] }>(
      `${ofPlatform(platform)}/test_clocks/${encodeURIComponent(clock)}/accounts`,
    )
  ).data;

export const createClock = (
  tenant: Tenant,
  clock: { readonly name: string; readonly frozen_time: number },
): Promise<unknown> => send(`${asPlatform(tenant)}${CLOCKS}`, { body: clock });

export const advanceClock = (tenant: Tenant, id: string, frozen_time: number): Promise<unknown> =>
  send(`${asPlatform(tenant)}${CLOCKS}/${encodeURIComponent(id)}/advance`, {
    body: { frozen_time },
  });

export const deleteClock = (tenant: Tenant, id: string): Promise<unknown> =>
  send(`${asPlatform(tenant)}${CLOCKS}/${encodeURIComponent(id)}`, { method: 'DELETE' });

/** Returns the faults in an error response of the accounts API, by JSON Pointer. */
export function accountFaultsOf(error: unknown): readonly Fault[] {
  if (!(error instanceof Problem)) return [];
  try {
    const { error: refused } = JSON.parse(error.body) as {
      readonly error?: {
        readonly message: string;
        readonly param?: string;
        readonly invalid_fields?: readonly { readonly field: string; readonly message: string }[];
      };
    };
    if (refused === undefined) return [];
    const { message, param, invalid_fields } = refused;
    const fields = invalid_fields ?? (param === undefined ? [] : [{ field: param, message }]);
    return fields.map(({ field, message: text }) => ({
      path: pointerOf(field.split('.')),
      message: text,
    }));
  } catch {
    return []; // The body is plain text.
  }
}
