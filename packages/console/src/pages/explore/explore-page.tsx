import { resultRunner } from '@plinth/console-core/api/result-runner.js';
import { fetchDatabases, fetchTables } from '@plinth/console-core/api/tsdb.js';
import {
  translated,
  writeBuilderQuery,
} from '@plinth/console-core/lib/query/builder/write-builder-query.js';
import { quoteName } from '@plinth/console-core/lib/query/identifiers.js';
import { usesRange } from '@plinth/console-core/lib/query/macros.js';
import { parameterNames } from '@plinth/console-core/lib/query/parameters.js';
import { plotQuery } from '@plinth/console-core/lib/query/plot-query.js';
import { SAMPLE_EXPLORE } from '@plinth/console-core/lib/samples.js';
import { lastDatabase } from '@plinth/console-core/lib/storage/last-database.js';
import {
  rangeOfTable,
  resolveRange,
  shiftRange,
  type TimeRange,
  widenRange,
} from '@plinth/console-core/lib/time/time-range.js';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ProblemNote } from '../../components/controls/problem-note.js';
import type { EditorHandle } from '../../components/editor/code-editor.js';
import { QueryEditor } from '../../components/editor/query-editor.js';
import { TimePicker } from '../../components/explore/time-picker.js';
import { useFollow } from '../../components/explore/use-follow.js';
import './explore.css';
import { QueryBuilder } from './builder/query-builder.js';
import { EmptyExplore } from './empty-explore.js';
import { ExploreActions } from './explore-actions.js';
import {
  addressOf,
  type ExploreSearch,
  languageOf,
  rangeOf,
  tableOf,
  viewOf,
} from './explore-search.js';
import { useBuilder } from './hooks/use-builder.js';
import { useExploreKeys } from './hooks/use-explore-keys.js';
import { useFilters } from './hooks/use-filters.js';
import { usePlan } from './hooks/use-plan.js';
import { useQueryEditor } from './hooks/use-query-editor.js';
import { useRefresh } from './hooks/use-refresh.js';
import { ParameterRow } from './parameter-row.js';
import { PlanView } from './plan-view.js';
import { ResultPane } from './result-pane.js';
import { SchemaTree } from './schema-tree.js';
import { TabBar } from './tab-bar.js';
import { tagValues } from './tag-values.js';

const MAX_COMPLETED_TABLE_COUNT = 1000;

resultRunner.prepare();

export function ExplorePage() {
  const editor = useRef<EditorHandle>(null);
  const { search, draft, latest, pane, tabs, isUnread, ...queries } = useQueryEditor();
  const { state, run, cancel, onType, patch, runWith } = queries;
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
  // On a new page, the last used or first database with tables is selected.
  useEffect(() => {
    if (search['tab'] === undefined || db !== '' || databases.data === undefined) return;
    const own = databases.data.filter(
      ({ name, table_count }) => name !== '_internal' && table_count > 0,
    );
    const last = own.find(({ name }) => name === lastDatabase());
    const first = last ?? own[0] ?? databases.data[0];
    if (first !== undefined) patch({ db: first.name });
  });
  useRefresh(isUnread ? undefined : search['refresh'], () => {
    if (!state.isRunning) void run(latest.current.search);
  });
  // In a narrow window, the query is hidden after a run. Wider windows ignore this.
  const [isFolded, setIsFolded] = useState(false);
  const ranText = state.result?.ran.typed;
  const [foldedFor, setFoldedFor] = useState(ranText);
  if (ranText !== foldedFor) {
    setFoldedFor(ranText);
    setIsFolded(ranText !== undefined);
  }
  const queriedTable = tableOf(state.result?.ran.typed ?? '');
  const follow = useFollow({
    ...{ db, table: queriedTable },
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
  useExploreKeys({
    cancel,
    explain,
    move: (direction) => runWith(rangeAfter(direction, latest.current.search)),
  });

  const onZoom = (range: TimeRange) => runWith(addressOf(range));
  const plot = (table: string, field: string, tags: readonly string[]) =>
    runWith({ q: plotQuery({ table, field, tags }, language), view: 'line' });
  const table = tables.data?.tables.find(({ name }) => name === queriedTable);
  const allTimes = table && rangeOfTable(table);
  const names = useMemo(() => parameterNames(draft, language), [draft, language]);
  const schema = useMemo(() => tables.data?.tables ?? [], [tables.data]);
  const builder = useBuilder({ search, draft, schema, result: state.result });
  const { added, filtered, onEdit, onBound } = useFilters({ language, schema, latest, runWith });
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
          defaultRefresh="off"
        />
      </header>
      <div className={isFolded ? 'explore-body folded' : 'explore-body'}>
        {state.result !== undefined && (
          <div className="explore-fold">
            <button
              type="button"
              className="button small"
              aria-expanded={!isFolded}
              onClick={() => setIsFolded(!isFolded)}
            >
              {isFolded ? 'Edit query' : 'Hide query'}
            </button>
          </div>
        )}
        <SchemaTree
          databases={databases.data}
          db={db}
          onDatabase={(name) => patch({ db: name })}
          onInsert={(name) => editor.current?.insert(quoteName(name, language))}
          onPlot={plot}
        />
        <div className="explore-main" ref={pane}>
          {builder.isShown && (
            <QueryBuilder
              {...{ db, language, tables: schema }}
              {...{ query: builder.query, isEmpty: builder.isEmpty }}
              onChange={(query) => runWith({ q: writeBuilderQuery(query, language) })}
              onDetach={() => patch({ builder: 'off' })}
            />
          )}
          <section className="explore-editor" aria-label="Editor">
            <QueryEditor
              text={draft}
              language={language}
              schema={schema}
              problem={state.problem}
              tagValues={(table, tag, typed) => tagValues(db, { table, tag, typed })}
              onChange={(text) => {
                builder.hold();
                onType(text);
              }}
              onRun={() => runWith()}
              handle={editor}
            />
          </section>
          <ParameterRow names={names} onChange={patch} onRun={runWith} />
          <ExploreActions
            search={{ ...search, q: draft }}
            state={state}
            onRun={() => runWith()}
            onCancel={cancel}
            onExplain={language === 'sql' ? explain : undefined}
            onLanguage={(lang) => {
              // A query of the builder is translated. Other text is kept, and an unread query is not run.
              const q = builder.query && !isUnread ? translated(builder.query, lang) : undefined;
              if (q === undefined) patch({ lang });
              else runWith({ lang, q });
            }}
            onBuilder={
              builder.isShown || !builder.isPossible
                ? undefined
                : () =>
                    builder.isReadable ? patch({ builder: '' }) : tabs.open({ db, lang: language })
            }
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

function rangeAfter(direction: -1 | 1, search: ExploreSearch): ExploreSearch {
  const range = resolveRange(rangeOf(search), Date.now());
  return range === undefined ? {} : addressOf(shiftRange(range, direction));
}
