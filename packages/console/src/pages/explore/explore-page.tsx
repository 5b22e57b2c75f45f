import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { resultRunner } from '../../api/result-runner.js';
import { fetchDatabases, fetchSavedQuery, fetchTables, queryRows } from '../../api/tsdb.js';
import { copyText } from '../../components/controls/copy-button.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { toast } from '../../components/controls/toasts.js';
import { CodeEditor, type EditorHandle } from '../../components/editor/code-editor.js';
import { refreshMs, TimePicker } from '../../components/explore/time-picker.js';
import { useFollow } from '../../components/explore/use-follow.js';
import { isAskedByReader, RAN } from '../../lib/opened-from.js';
import {
  addCondition,
  addRange,
  type FilterEdit,
  type Wanted,
} from '../../lib/query/add-condition.js';
import { quoteName } from '../../lib/query/identifiers.js';
import { usesRange } from '../../lib/query/macros.js';
import { parameterNames } from '../../lib/query/parameters.js';
import { plotQuery } from '../../lib/query/plot-query.js';
import { SAMPLE_EXPLORE } from '../../lib/samples.js';
import {
  absoluteRange,
  rangeOfTable,
  resolveRange,
  shiftRange,
  type TimeRange,
  widenRange,
} from '../../lib/time/time-range.js';
import './explore.css';
import { EmptyExplore } from './empty-explore.js';
import { ExploreActions } from './explore-actions.js';
import { type ExploreSearch, languageOf, rangeOf, tableOf, viewOf } from './explore-search.js';
import { ParameterRow } from './parameter-row.js';
import { PlanView } from './plan-view.js';
import { ResultPane } from './result-pane.js';
import { SchemaTree } from './schema-tree.js';
import { TabBar } from './tab-bar.js';
import { usePlan } from './use-plan.js';
import { useRun } from './use-run.js';
import { type Tab, useTabs } from './use-tabs.js';

const TYPED_AFTER_MS = 150;
const MAX_WRITTEN_COUNT = 200;
const MAX_COMPLETED_TABLE_COUNT = 1000;
const MAX_VALUE_COUNT = 100;
const DEFAULT_POINT_COUNT = 600;

resultRunner.prepare();

/** Opens the saved query whose id is in the address. */
export function SavedQueryPage() {
  const { savedId = '' } = useParams({ strict: false }) as { readonly savedId?: string };
  const navigate = useNavigate();
  const saved = useQuery({
    queryKey: ['tsdb', 'saved-queries', savedId],
    queryFn: () => fetchSavedQuery(savedId),
  });
  useEffect(() => {
    if (saved.data === undefined) return;
    const { id, db, lang, text, view, name, rev } = saved.data;
    const search = { ...view, db, lang, q: text, name, saved: id, rev: String(rev) };
    void navigate({ to: '/explore', search, replace: true });
  }, [saved.data, navigate]);
  return saved.isError ? (
    <div className="page">
      <h1 tabIndex={-1}>Saved query</h1>
      <ProblemNote error={saved.error} onRetry={() => void saved.refetch()} />
    </div>
  ) : null;
}

export function ExplorePage() {
  const search = useSearch({ strict: false }) as ExploreSearch;
  const navigate = useNavigate();
  const router = useRouter();
  const editor = useRef<EditorHandle>(null);
  const pane = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useState(search['q'] ?? '');
  /** Queries that this page wrote to the address. The address may change late, when the user has typed more. */
  const written = useRef(new Set([search['q'] ?? '']));
  const isElsewhere = useRef(false);
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
    const isOwn = written.current.has(text) && !isElsewhere.current;
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
  /** Changes the address, including the typed query and changes that are still pending. */
  const patch = (change: ExploreSearch): void => {
    const { draft: q } = latest.current;
    note(q);
    void navigate({
      to: '/explore',
      search: (before: ExploreSearch) => ({ ...before, ...(q !== '' && { q }), ...change }),
      replace: true,
      state: true,
    } as never);
  };
  const onType = (text: string) => {
    setDraft(text);
    clearTimeout(typing.current);
    typing.current = setTimeout(() => {
      if (text === latest.current.search['q']) return;
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

  const databases = useQuery({
    queryKey: ['tsdb', 'databases'],
    queryFn: () => fetchDatabases(),
  });
  const db = search['db'] ?? '';
  const language = languageOf(search);
  const tables = useQuery({
    queryKey: ['tsdb', 'schema', db, '', MAX_COMPLETED_TABLE_COUNT],
    queryFn: () => fetchTables({ db, limit: MAX_COMPLETED_TABLE_COUNT }),
    enabled: db !== '',
    staleTime: 60_000,
  });
  // On a new page, the first database with tables is selected.
  useEffect(() => {
    if (search['tab'] === undefined || db !== '' || databases.data === undefined) return;
    const own = databases.data.find(
      ({ name, table_count }) => name !== '_internal' && table_count > 0,
    );
    const first = own ?? databases.data[0];
    if (first !== undefined) patch({ db: first.name });
  });
  useRefresh(isUnread ? undefined : search['refresh'], () => {
    if (!state.isRunning) void run(latest.current.search);
  });
  const follow = useFollow({
    isOn:
      search['follow'] === '1' &&
      viewOf(search) === 'table' &&
      !isUnread &&
      state.result !== undefined,
    isRunning: state.isRunning,
    hasFailed: state.error !== undefined,
    result: state.result,
    refresh: () => void run(latest.current.search),
  });
  const plan = usePlan();
  const explain = () => {
    const { search: shown, draft: q } = latest.current;
    void plan.explain({ ...shown, q });
  };
  useKeys({
    cancel,
    explain,
    move: (direction) => runWith(rangeAfter(direction, latest.current.search)),
  });

  const onZoom = (range: TimeRange) => runWith(addressOf(range));
  const plot = (table: string, field: string, tags: readonly string[]) =>
    runWith({ q: plotQuery({ table, field, tags }, language), view: 'line' });
  const queriedTable = tableOf(state.result?.ran.typed ?? '');
  const table = tables.data?.tables.find(({ name }) => name === queriedTable);
  const allTimes = table && rangeOfTable(table);
  const names = useMemo(() => parameterNames(draft, language), [draft, language]);
  const schema = useMemo(() => tables.data?.tables ?? [], [tables.data]);
  const [added, setAdded] = useState<
    (FilterEdit & { kind: 'edited'; before: string }) | undefined
  >();
  const filtered = (wanted: readonly Wanted[], isOut: boolean) =>
    addCondition(latest.current.draft, { language, schema, wanted, isOut });
  const onEdit = (edit: FilterEdit, change: ExploreSearch = {}): void => {
    if (edit.kind === 'unsafe') {
      void copyText(edit.condition).then(() =>
        toast(`Condition copied. The query was not changed: ${edit.why}.`),
      );
      return;
    }
    setAdded({ ...edit, before: latest.current.draft });
    runWith({ q: edit.text, ...change });
  };
  const onBound = (range: TimeRange | undefined): void =>
    onEdit(addRange(draft, { language, schema }), range && addressOf(range));
  const hasNothing =
    databases.data?.every(({ name, table_count }) => name === '_internal' || table_count === 0) ===
    true;
  return (
    <div className="explore">
      <header className="explore-head">
        <h1 tabIndex={-1}>Explore</h1>
        <TabBar {...tabs} active={search['tab']} />
        <TimePicker
          range={rangeOf(search)}
          onChange={({ from, to }) => runWith({ from, to })}
          refresh={search['refresh'] ?? ''}
          onRefresh={(refresh) => patch({ refresh })}
        />
      </header>
      <div className="explore-body">
        <SchemaTree
          databases={databases.data}
          db={db}
          onDatabase={(name) => patch({ db: name })}
          onInsert={(name) => editor.current?.insert(quoteName(name, language))}
          onPlot={plot}
        />
        <div className="explore-main" ref={pane}>
          <section className="explore-editor" aria-label="Editor">
            <CodeEditor
              text={draft}
              language={language}
              schema={schema}
              problem={state.problem}
              tagValues={(table, tag, typed) => tagValues(db, { table, tag, typed })}
              onChange={onType}
              onRun={() => runWith()}
              handle={editor}
            />
          </section>
          <ParameterRow names={names} search={search} onChange={patch} onRun={runWith} />
          <ExploreActions
            search={{ ...search, q: draft }}
            state={state}
            onRun={() => runWith()}
            onCancel={cancel}
            onExplain={language === 'sql' ? explain : undefined}
            onLanguage={(lang) => patch({ lang })}
            onOpen={(opened) => tabs.open(opened)}
            onSaved={patch}
          />
          {plan.error !== undefined && <ProblemNote error={plan.error} onRetry={explain} />}
          {plan.plan && <PlanView plan={plan.plan} onClose={plan.close} />}
          {added?.text === draft && (
            <p className="filter-note" role="status">
              Added <code>{added.added}</code>
              <button
                type="button"
                className="button small"
                onClick={() => runWith({ q: added.before })}
              >
                Undo
              </button>
            </p>
          )}
          {hasNothing && db === '' ? (
            <EmptyExplore onWritten={() => runWith(SAMPLE_EXPLORE)} />
          ) : (
            <ResultPane
              search={search}
              state={state}
              isUnread={isUnread}
              onChange={patch}
              onZoom={usesRange(state.result?.ran.typed ?? '') ? onZoom : undefined}
              onAllTimes={allTimes && (() => onZoom(allTimes))}
              onZoomOut={() => {
                const range = state.result?.ran.range;
                if (range !== undefined) onZoom(widenRange(range));
              }}
              onRun={() => runWith()}
              filtered={filtered}
              onFilter={onEdit}
              onBound={usesRange(draft) ? undefined : onBound}
              follow={follow}
            />
          )}
        </div>
      </div>
    </div>
  );
}

const addressOf = (range: TimeRange): ExploreSearch => ({ ...absoluteRange(range) });

function rangeAfter(direction: -1 | 1, search: ExploreSearch): ExploreSearch {
  const range = resolveRange(rangeOf(search), Date.now());
  return range === undefined ? {} : addressOf(shiftRange(range, direction));
}

function useRefresh(text: string | undefined, refresh: () => void): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  useEffect(() => {
    const ms = refreshMs(text);
    if (ms === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [text]);
}

function useKeys(at: {
  readonly cancel: () => void;
  readonly explain: () => void;
  readonly move: (direction: -1 | 1) => void;
}) {
  const latest = useRef(at);
  latest.current = at;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === '.') latest.current.cancel();
      if ((event.ctrlKey || event.metaKey) && event.shiftKey && event.key === 'Enter')
        latest.current.explain();
      if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return;
      event.preventDefault();
      latest.current.move(event.key === 'ArrowLeft' ? -1 : 1);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Returns the values of a tag that start with the typed text. */
async function tagValues(
  db: string,
  at: { readonly table: string; readonly tag: string; readonly typed: string },
): Promise<readonly string[]> {
  if (db === '' || at.table === '') return [];
  const name = (text: string) => quoteName(text, 'influxql');
  const begin = at.typed.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const where = begin === '' ? '' : ` WHERE ${name(at.tag)} =~ /^${begin}/`;
  const rows = await queryRows<{ readonly value: string }>({
    db,
    lang: 'influxql',
    text: `SHOW TAG VALUES FROM ${name(at.table)} WITH KEY = ${name(at.tag)}${where} LIMIT ${MAX_VALUE_COUNT}`,
  });
  return rows.map(({ value }) => value);
}
