import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useRef, useState } from 'react';
import { findPlatform } from '../../api/accounts.js';
import type { ServerInfo } from '../../api/server.js';
import { fetchDatabases, fetchSavedQueries, fetchTables } from '../../api/tsdb.js';
import { fetchApps } from '../../api/webhooks.js';
import { placesOf } from '../../lib/places.js';
import { setTheme, type Theme } from '../../lib/storage/theme.js';
import { Dialog } from '../controls/dialog.js';
import { toast } from '../controls/toasts.js';

interface Entry {
  readonly key: string;
  readonly kind: string;
  readonly text: string;
  readonly act: () => unknown;
}

const ACCOUNT_ID = /^acct_\w+$/;
/** An identity of the rate limits, such as `user:1` and `ip:192.0.2.1`. */
const IDENTITY = /^[a-z_]+:\S+$/;
const MAX_SHOWN_COUNT = 50;
/** Limit per database. The server narrows the list as the user types. */
const MAX_TABLE_COUNT = 200;

/** The command palette: finds pages and objects by name, accounts and callers by id. */
export function Palette(props: { readonly info: ServerInfo; readonly onClose: () => void }) {
  const { info, onClose } = props;
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const entries = useEntries(info, text);
  const searchText = text.trim().toLowerCase();
  const found = entries.filter((entry) => entry.text.toLowerCase().includes(searchText));
  const shown = found.slice(0, MAX_SHOWN_COUNT);
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.act();
  };
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <Dialog title="Find" isOpen onClose={onClose}>
      <input
        className="input"
        autoFocus
        role="combobox"
        aria-label="Find a page, database, table, saved query, app, account or caller"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={shown[active] && `${id}-${active}`}
        placeholder="A name, an account id (acct_…) or a caller (user:1)"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            setActive((at) => Math.max(0, Math.min(shown.length - 1, at + step)));
          }
          if (event.key === 'Enter') choose(shown[active]);
        }}
      />
      <ul ref={list} id={`${id}-list`} className="palette-list" role="listbox" aria-label="Results">
        {shown.map((entry, index) => (
          <li
            key={entry.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => choose(entry)}
          >
            <span className="grow">{entry.text}</span>
            <span className="hint soft">{entry.kind}</span>
          </li>
        ))}
      </ul>
      <p className="hint soft" role="status">
        {found.length > shown.length
          ? `${shown.length} of ${found.length}`
          : `${found.length} found`}
      </p>
    </Dialog>
  );
}

function useEntries({ services }: ServerInfo, text: string): readonly Entry[] {
  const navigate = useNavigate();
  const hasTables = services.includes('tsdb');
  const databases = useQuery({
    queryKey: ['tsdb', 'databases'],
    queryFn: () => fetchDatabases(),
    enabled: hasTables,
  });
  const names = databases.data?.map(({ name }) => name) ?? [];
  const tables = useQuery({
    queryKey: ['tsdb', 'palette', names, text],
    queryFn: async () =>
      await Promise.all(
        names.map(async (db) => ({
          db,
          ...(await fetchTables({ db, find: text, limit: MAX_TABLE_COUNT })),
        })),
      ),
    enabled: names.length > 0,
    placeholderData: (before) => before,
  });
  const saved = useQuery({
    queryKey: ['tsdb', 'saved-queries'],
    queryFn: fetchSavedQueries,
    enabled: hasTables,
  });
  const apps = useQuery({
    queryKey: ['webhooks', 'apps'],
    queryFn: fetchApps,
    enabled: services.includes('webhooks'),
  });
  const accountId = ACCOUNT_ID.exec(text.trim())?.[0];
  const identity = IDENTITY.exec(text.trim())?.[0];
  const themes: readonly Theme[] = ['light', 'dark', 'system'];
  return [
    ...(accountId !== undefined && services.includes('accounts')
      ? [
          {
            key: accountId,
            kind: 'account',
            text: accountId,
            act: async () => {
              const platform = await findPlatform(accountId);
              if (platform === undefined) toast(`Account ${accountId} not found`, true);
              else
                void navigate({
                  to: '/accounts/$platform/$account',
                  params: { platform, account: accountId },
                });
            },
          },
        ]
      : []),
    ...(identity !== undefined && services.includes('ratelimit')
      ? [
          {
            key: `caller ${identity}`,
            kind: 'caller',
            text: identity,
            act: () => void navigate({ to: '/limits', search: { identity } }),
          },
        ]
      : []),
    ...(apps.data ?? []).map(({ id, name }) => ({
      key: `app ${id}`,
      kind: 'webhook app',
      text: name,
      act: () => void navigate({ to: '/webhooks/$app', params: { app: String(id) } }),
    })),
    ...placesOf(services).map(({ path, title }) => ({
      key: path,
      kind: 'page',
      text: title,
      act: () => void navigate({ to: path }),
    })),
    ...(saved.data ?? []).map(({ id, name }) => ({
      key: `saved ${id}`,
      kind: 'saved query',
      text: name,
      act: () => void navigate({ to: '/explore/$savedId', params: { savedId: id } }),
    })),
    ...names.map((db) => ({
      key: `db ${db}`,
      kind: 'database',
      text: db,
      act: () => void navigate({ to: '/data/$db', params: { db } }),
    })),
    ...(tables.data ?? []).flatMap(({ db, tables: found }) =>
      found.map(({ name }) => ({
        key: `table ${db} ${name}`,
        kind: `table of ${db}`,
        text: name,
        act: () => void navigate({ to: '/data/$db/$table', params: { db, table: name } }),
      })),
    ),
    ...themes.map((theme) => ({
      key: `theme ${theme}`,
      kind: 'action',
      text: `Theme: ${theme}`,
      act: () => setTheme(theme),
    })),
  ];
}
