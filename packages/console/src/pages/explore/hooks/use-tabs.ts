import { keep, readKept } from '@plinth/console-core/lib/storage/database.js';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { ExploreSearch } from '../explore-search.js';

const KEY = 'tabs';
const MAX_TAB_COUNT = 20;
const MAX_CLOSED_COUNT = 20;
const KEEP_AFTER_MS = 300;

export interface Tab {
  readonly id: string;
  readonly search: ExploreSearch;
  /** The query came from an external link, and the user has not run it yet. */
  readonly isUnread?: boolean;
}

/**
 * The reason why a tab becomes active: its address was opened, Explore was opened, or the user
 * selected it.
 */
type Cause = 'address' | 'start' | 'choice';

interface StoredTabs {
  readonly tabs: readonly Tab[];
  readonly closed: readonly Tab[];
  readonly active: string;
}

let stored: StoredTabs | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

const reading = readKept<StoredTabs>(KEY).then((found) => {
  stored = found ?? { tabs: [], closed: [], active: '' };
  for (const listener of listeners) listener();
});

function set(next: StoredTabs): void {
  stored = next;
  for (const listener of listeners) listener();
  clearTimeout(timer);
  timer = setTimeout(() => void keep(KEY, next), KEEP_AFTER_MS);
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const newId = (): string => Math.random().toString(36).slice(2, 8);

function isSameContent(
  { tab: _a, ...a }: ExploreSearch,
  { tab: _b, ...b }: ExploreSearch,
): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** Manages the query tabs of this browser, which survive reloads. The URL contains the content of the active tab. */
export function useTabs(
  search: ExploreSearch,
  isUnread: boolean,
  show: (tab: Tab, cause: Cause) => void,
) {
  const state = useSyncExternalStore(subscribe, () => stored);
  const latest = useRef({ search, isUnread, show });
  latest.current = { search, isUnread, show };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs only when the address has no tab.
  useEffect(() => {
    void reading.then(() => {
      const { search: shown, isUnread: isFromElsewhere, show: change } = latest.current;
      if (stored === undefined || shown['tab'] !== undefined) return;
      const last = stored.tabs.find(({ id }) => id === stored?.active) ?? stored.tabs[0];
      // A URL with a query or a database opens its own tab, or the tab that has the same content. A link from another
      // site never uses a tab whose query was run, because a reload would run it.
      const hasQuery = shown['q'] !== undefined || shown['db'] !== undefined;
      const same = isFromElsewhere
        ? undefined
        : stored.tabs.find((tab) => isSameContent(tab.search, shown));
      if (hasQuery) change({ id: same?.id ?? newId(), search: shown }, 'address');
      else change(last ?? { id: newId(), search: shown }, 'start');
    });
  }, [search['tab']]);
  useEffect(() => {
    const id = search['tab'];
    if (state === undefined || id === undefined || stored === undefined) return;
    const tab = { id, search, isUnread };
    const place = stored.tabs.findIndex((each) => each.id === id);
    const before = stored.tabs[place];
    if (stored.active === id && before?.search === search && before.isUnread === isUnread) return;
    const tabs = place === -1 ? [...stored.tabs, tab] : stored.tabs.with(place, tab);
    set({ ...stored, tabs: tabs.slice(-MAX_TAB_COUNT), active: id });
  }, [state, search, isUnread]);
  return {
    tabs: state?.tabs ?? [],
    closed: state?.closed ?? [],
    open: (content: ExploreSearch) => show({ id: newId(), search: content }, 'choice'),
    choose: (id: string) => {
      const tab = stored?.tabs.find((each) => each.id === id);
      if (tab !== undefined) show(tab, 'choice');
    },
    close: (id: string) => {
      if (stored === undefined) return;
      const place = stored.tabs.findIndex((each) => each.id === id);
      const gone = stored.tabs[place];
      if (gone === undefined) return;
      const tabs = stored.tabs.filter((each) => each.id !== id);
      const closed = [gone, ...stored.closed].slice(0, MAX_CLOSED_COUNT);
      set({ ...stored, tabs, closed });
      if (latest.current.search['tab'] !== id) return;
      const next = tabs[Math.min(place, tabs.length - 1)];
      const { db = '', lang = 'sql' } = gone.search;
      show(next ?? { id: newId(), search: { db, lang } }, 'choice');
    },
    reopen: () => {
      const [last, ...closed] = stored?.closed ?? [];
      if (stored === undefined || last === undefined) return;
      set({ ...stored, closed });
      show(last, 'choice');
    },
  };
}
