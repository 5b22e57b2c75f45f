import {
  fetchAccounts,
  fetchPlatforms,
  findEvent,
  findPlatform,
} from '@plinth/console-core/api/accounts.js';
import { searchRecords } from '@plinth/console-core/api/gamedata.js';
import { fetchIdentities } from '@plinth/console-core/api/identities.js';
import { fetchTriggers } from '@plinth/console-core/api/processing.js';
import type { ServerInfo } from '@plinth/console-core/api/server.js';
import { fetchDatabases, fetchSavedQueries, fetchTables } from '@plinth/console-core/api/tsdb.js';
import { fetchApps, fetchDeliveries, ping } from '@plinth/console-core/api/webhooks.js';
import { placesOf } from '@plinth/console-core/lib/places.js';
import { setTheme, type Theme } from '@plinth/console-core/lib/storage/theme.js';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { toast } from '../controls/toasts.js';
import { useDelayed } from '../controls/use-delayed.js';

export interface Entry {
  readonly key: string;
  /** The heading above the entries of this kind. */
  readonly kind: string;
  readonly text: string;
  /** Details of the entry, for example its database. */
  readonly hint?: string;
  /** The server found it for the text, which need not be part of its name. */
  readonly isFound?: boolean;
  /** It sends something, so it is not offered as a recent entry. */
  readonly hasEffect?: boolean;
  readonly act: () => unknown;
}

type Go = ReturnType<typeof useNavigate>;

const ACCOUNT_ID = /^acct_\w+$/;
const EVENT_ID = /^evt_\w+$/;
/** The id of an event in all its deliveries. */
const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** An identity of the rate limits, such as `user:1` and `ip:192.0.2.1`. */
const IDENTITY = /^[a-z_]+:\S+$/;
/** Limit per database. The server narrows the list as the user types. */
const MAX_TABLE_COUNT = 200;
/** Databases, apps and platforms are each read with their own requests, so only so many are. */
const MAX_CHECKED = 20;
const TYPING_MS = 200;
const THEMES: readonly Theme[] = ['light', 'dark', 'system'];

/** Everything that the palette offers for a text, by kind. Objects without the text in their name may be included. */
export function useEntries({ services }: ServerInfo, text: string): readonly Entry[] {
  const go = useNavigate();
  const typed = text.trim();
  const delayed = useDelayed(typed, TYPING_MS);
  // Results of the server are last, so that they do not move the selected entry.
  return [
    ...idEntries(go, services, typed),
    ...placesOf(services).map(({ path, title }) => ({
      key: path,
      kind: 'Pages',
      text: title,
      act: () => go({ to: path }),
    })),
    ...useApps(go, services),
    ...useDatabases(go, services, delayed),
    ...useNamed(go, services),
    ...THEMES.map((theme) => ({
      key: `theme ${theme}`,
      kind: 'Actions',
      text: `Theme: ${theme}`,
      act: () => setTheme(theme),
    })),
    ...useFound(go, services, delayed),
  ];
}

/** Objects that have an id of the typed form; whether they exist is checked when they are opened. */
function idEntries(go: Go, services: readonly string[], typed: string): readonly Entry[] {
  const entry = (kind: string, act: () => unknown): readonly Entry[] => [
    { key: `${kind} ${typed}`, kind, text: typed, act },
  ];
  if (services.includes('accounts') && ACCOUNT_ID.test(typed))
    return entry('Accounts', async () => {
      const platform = await findPlatform(typed);
      if (platform === undefined) return toast(`Account ${typed} not found`, true);
      const params = { platform, account: typed };
      return await go({ to: '/accounts/$platform/$account', params });
    });
  if (services.includes('accounts') && EVENT_ID.test(typed))
    return entry('Events', async () => {
      const params = await findEvent(typed);
      if (params === undefined) return toast(`Event ${typed} not found`, true);
      return await go({
        to: '/accounts/$platform/$account',
        params,
        search: { tab: 'events' },
      });
    });
  if (services.includes('ratelimit') && IDENTITY.test(typed))
    return entry('Callers', () => go({ to: '/limits', search: { identity: typed } }));
  return [];
}

/** Objects that the server searches for: deliveries by GUID, and records of the game data. */
function useFound(go: Go, services: readonly string[], typed: string): readonly Entry[] {
  const isGuid = GUID.test(typed);
  const deliveries = useQuery({
    queryKey: ['webhooks', 'palette', typed],
    queryFn: async () => {
      const apps = (await fetchApps()).slice(0, MAX_CHECKED);
      const pages = apps.map(async (app) => ({
        app,
        ...(await fetchDeliveries(String(app.id), { guid: typed })),
      }));
      return await Promise.all(pages);
    },
    enabled: services.includes('webhooks') && isGuid,
  });
  const records = useQuery({
    queryKey: ['gamedata', 'search', typed],
    queryFn: () => searchRecords(typed),
    enabled: services.includes('gamedata') && typed !== '' && !isGuid,
  });
  return [
    ...(deliveries.data ?? []).flatMap(({ app, deliveries: found }) =>
      found.map(({ id, guid, status }) => ({
        key: `delivery ${id}`,
        kind: 'Deliveries',
        text: guid,
        hint: `${app.name}, ${status}`,
        act: () =>
          go({
            to: '/webhooks/$app/$delivery',
            params: { app: String(app.id), delivery: String(id) },
          }),
      })),
    ),
    ...(records.data ?? []).map(({ kind, id, name }) => ({
      key: `record ${kind} ${id}`,
      kind: 'Game data',
      text: name || id,
      hint: `${kind} ${id}`,
      isFound: true,
      act: () => go({ to: '/gamedata/$kind/$id', params: { kind, id } }),
    })),
  ];
}

function useApps(go: Go, services: readonly string[]): readonly Entry[] {
  const apps = useQuery({
    queryKey: ['webhooks', 'apps'],
    queryFn: fetchApps,
    enabled: services.includes('webhooks'),
  });
  const named = (apps.data ?? []).map(({ id, name }) => ({ app: String(id), name }));
  return [
    ...named.map(({ app, name }) => ({
      key: `app ${app}`,
      kind: 'Webhook apps',
      text: name,
      act: () => go({ to: '/webhooks/$app', params: { app } }),
    })),
    ...named.map(({ app, name }) => ({
      key: `ping ${app}`,
      kind: 'Actions',
      text: `Send ping to ${name}`,
      hasEffect: true,
      act: async () => {
        await ping(app).then(
          () => toast('Ping sent'),
          (error: Error) => toast(error.message, true),
        );
        await go({ to: '/webhooks/$app', params: { app } });
      },
    })),
    ...(services.includes('tsdb')
      ? [
          {
            key: 'create token',
            kind: 'Actions',
            text: 'Create token',
            act: () => go({ to: '/tokens', search: { create: '1' } }),
          },
        ]
      : []),
  ];
}

function useDatabases(go: Go, services: readonly string[], text: string): readonly Entry[] {
  const enabled = services.includes('tsdb');
  const databases = useQuery({
    queryKey: ['tsdb', 'databases'],
    queryFn: () => fetchDatabases(),
    enabled,
  });
  const names = databases.data?.map(({ name }) => name) ?? [];
  const ofEach = <Found>(fetch: (db: string) => Promise<Found>) =>
    Promise.all(names.slice(0, MAX_CHECKED).map(async (db) => ({ db, found: await fetch(db) })));
  const tables = useQuery({
    queryKey: ['tsdb', 'palette', names, text],
    queryFn: () => ofEach((db) => fetchTables({ db, find: text, limit: MAX_TABLE_COUNT })),
    enabled: names.length > 0,
    placeholderData: (before) => before,
  });
  const triggers = useQuery({
    queryKey: ['triggers', 'palette', names],
    queryFn: () => ofEach(fetchTriggers),
    enabled: names.length > 0,
  });
  const saved = useQuery({
    queryKey: ['tsdb', 'saved-queries'],
    queryFn: fetchSavedQueries,
    enabled,
  });
  return [
    ...(saved.data ?? []).map(({ id, name }) => ({
      key: `saved ${id}`,
      kind: 'Saved queries',
      text: name,
      act: () => go({ to: '/explore/$savedId', params: { savedId: id } }),
    })),
    ...names.map((db) => ({
      key: `db ${db}`,
      kind: 'Databases',
      text: db,
      act: () => go({ to: '/data/$db', params: { db } }),
    })),
    ...(tables.data ?? []).flatMap(({ db, found }) =>
      found.tables.map(({ name }) => ({
        key: `table ${db} ${name}`,
        kind: 'Tables',
        text: name,
        hint: db,
        act: () => go({ to: '/data/$db/$table', params: { db, table: name } }),
      })),
    ),
    ...(triggers.data ?? []).flatMap(({ db, found }) =>
      found.map(({ trigger_name: name }) => ({
        key: `trigger ${db} ${name}`,
        kind: 'Triggers',
        text: name,
        hint: db,
        act: () => go({ to: '/triggers/$db/$name', params: { db, name } }),
      })),
    ),
  ];
}

/** The newest accounts and the first identities. The others are found by their ids. */
function useNamed(go: Go, services: readonly string[]): readonly Entry[] {
  const accounts = useQuery({
    queryKey: ['accounts', 'palette'],
    queryFn: async () => {
      const platforms = (await fetchPlatforms()).slice(0, MAX_CHECKED);
      const pages = platforms.flatMap(({ id: platform }) =>
        [true, false].map(async (livemode) => {
          const { rows } = await fetchAccounts(platform, { livemode, closed: false, page: '' });
          return rows.map((row) => ({ platform, row }));
        }),
      );
      return (await Promise.all(pages)).flat();
    },
    enabled: services.includes('accounts'),
  });
  const identities = useQuery({
    queryKey: ['identities', 'palette'],
    queryFn: () => fetchIdentities(''),
    enabled: services.includes('ratelimit'),
  });
  return [
    ...(accounts.data ?? []).map(({ platform, row }) => ({
      key: `account ${row.id}`,
      kind: 'Accounts',
      text: row.display_name ?? row.id,
      hint: row.id,
      act: () => go({ to: '/accounts/$platform/$account', params: { platform, account: row.id } }),
    })),
    ...(identities.data?.identities ?? []).map((identity) => ({
      key: `identity ${identity.key}`,
      kind: 'Identities',
      text: String(identity['login'] ?? identity['name'] ?? identity.key),
      hint: identity.key,
      act: () => go({ to: '/limits', search: { identity: identity.key } }),
    })),
  ];
}
