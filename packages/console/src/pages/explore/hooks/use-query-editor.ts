import { isAskedByReader, RAN } from '@plinth/console-core/lib/opened-from.js';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { ExploreSearch } from '../explore-search.js';
import { useRun } from './use-run.js';
import { type Tab, useTabs } from './use-tabs.js';

const TYPED_AFTER_MS = 150;
const MAX_WRITTEN_COUNT = 200;
const DEFAULT_POINT_COUNT = 600;

/** Manages the text of the editor, the URL that contains it, its tabs and its runs. */
export function useQueryEditor() {
  const search = useSearch({ strict: false }) as ExploreSearch;
  const navigate = useNavigate();
  const router = useRouter();
  const pane = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useState(search['q'] ?? '');
  /** Queries that this page wrote to the address. The address may change late, when the user has typed more. */
  const written = useRef(new Set([search['q'] ?? '']));
  const isElsewhere = useRef(false);
  const shownTab = useRef(search['tab']);
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const { state, run, cancel, clear } = useRun(
    () => Math.max(50, Math.round((pane.current?.clientWidth ?? 0) / 2)) || DEFAULT_POINT_COUNT,
  );
  const latest = useRef({ search, draft });
  latest.current = { search, draft };
  const show = (next: ExploreSearch, isNew: boolean, state: typeof RAN | true = true): void =>
    void navigate({ to: '/explore', search: next, replace: !isNew, state } as never);
  // A query from an external link is shown, not run: it would run with the user's permissions.
  const [isUnread, setUnread] = useState(() => !isAskedByReader() && (search['q'] ?? '') !== '');
  const wantsRun = useRef((search['q'] ?? '') !== '' && !isUnread);
  /** The tab that is being opened. Until the address changes, the unread state belongs to the previous tab. */
  const coming = useRef<Pick<Tab, 'id' | 'isUnread'> | undefined>(undefined);
  const tabs = useTabs(search, isUnread, ({ id, search: found, isUnread: isStrange }, cause) => {
    // Text that the user has already typed is kept.
    const { draft: typed } = latest.current;
    const isNew = cause === 'choice';
    const keepsTyped = !isNew && typed !== '';
    const isOwn = !isStrange && (isNew || (cause === 'start' && isAskedByReader()));
    isElsewhere.current ||= isNew;
    if (cause !== 'address') {
      const hasText = (found['q'] ?? '') !== '';
      wantsRun.current = isOwn && hasText && !keepsTyped;
      coming.current = { id, isUnread: !isOwn && hasText };
    }
    if (isNew) clear();
    show({ ...found, tab: id, ...(keepsTyped && { q: typed }) }, isNew, isOwn ? RAN : true);
  });

  // The address changed from outside: Back, a link, or another tab of the page.
  useEffect(() => {
    const text = search['q'] ?? '';
    // Another tab has its own text, even if this page wrote it to the address before.
    const tab = search['tab'] ?? shownTab.current;
    const isOtherTab = shownTab.current !== undefined && shownTab.current !== tab;
    shownTab.current = tab;
    const isOwn = written.current.has(text) && !isElsewhere.current && !isOtherTab;
    isElsewhere.current = false;
    if (isOwn || text === latest.current.draft) return;
    clearTimeout(typing.current);
    written.current.add(text);
    setDraft(text);
  }, [search]);

  useEffect(
    () =>
      router.history.subscribe(({ action }: { readonly action: { readonly type: string } }) => {
        if (action.type === 'BACK' || action.type === 'FORWARD' || action.type === 'GO') {
          wantsRun.current = true;
          isElsewhere.current = true;
        }
      }),
    [router],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the address runs the query.
  useEffect(() => {
    if (coming.current !== undefined && coming.current.id === search['tab']) {
      setUnread(coming.current.isUnread === true);
      coming.current = undefined;
    }
    if (!wantsRun.current || search['tab'] === undefined) return;
    wantsRun.current = false;
    setUnread(!isAskedByReader());
    if (!isAskedByReader()) return;
    show(search, false, RAN);
    void run(search);
  }, [search]);

  const note = (text: string) => {
    if (written.current.size > MAX_WRITTEN_COUNT) written.current.clear();
    written.current.add(text);
  };
  /**
   * Changes the address, including the typed query and changes that are still pending. Does nothing if another tab is
   * opened in the meantime.
   */
  const patch = (change: ExploreSearch): void => {
    const { draft: q, search: shown } = latest.current;
    note(q);
    void navigate({
      to: '/explore',
      search: (before: ExploreSearch) =>
        shown['tab'] !== undefined && before['tab'] !== shown['tab']
          ? before
          : { ...before, ...(q !== '' && { q }), ...change },
      replace: true,
      state: true,
    } as never);
  };
  const onType = (text: string) => {
    setDraft(text);
    clearTimeout(typing.current);
    typing.current = setTimeout(() => {
      if (text === (latest.current.search['q'] ?? '')) return;
      patch({ q: text });
    }, TYPED_AFTER_MS);
  };
  /** Runs the query of the editor and adds a history entry, so that Back returns to the previous one. */
  const runWith = (change: ExploreSearch = {}) => {
    clearTimeout(typing.current);
    const next = { ...latest.current.search, q: latest.current.draft, ...change };
    note(next['q'] ?? '');
    setUnread(false);
    coming.current = undefined;
    if (change['q'] !== undefined) setDraft(change['q']);
    show(next, true, RAN);
    void run(next);
  };
  return {
    ...{ search, draft, latest, pane, tabs, isUnread },
    ...{ state, run, cancel, onType, patch, runWith },
  };
}
