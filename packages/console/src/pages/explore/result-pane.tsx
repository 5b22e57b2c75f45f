import { axesOf } from '@plinth/console-core/lib/chart/axes.js';
import { buildSeries, type SeriesSet } from '@plinth/console-core/lib/chart/series.js';
import { type Frame, isNumeric, MAX_ROW_COUNT } from '@plinth/console-core/lib/frame/frame.js';
import type { ColumnValue, FilterEdit } from '@plinth/console-core/lib/query/add-condition.js';
import type { TimeRange } from '@plinth/console-core/lib/time/time-range.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Legend } from '../../components/chart/legend.js';
import { TimeChart } from '../../components/chart/time-chart.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { TableView } from '../../components/explore/table-view.js';
import type { Follow } from '../../components/explore/use-follow.js';
import { SearchCheckbox } from '../../components/search/search-fields.js';
import { type ExploreSearch, VIEWS, type View, viewOf } from './explore-search.js';
import type { RunState } from './hooks/use-run.js';
import { StatView } from './stat-view.js';

const VIEW_LABELS: Readonly<Record<View, string>> = {
  line: 'Line',
  area: 'Area',
  bar: 'Bar',
  scatter: 'Scatter',
  heat: 'Heat',
  stat: 'Stat',
  table: 'Table',
};

const NOT_RUN = 'This query has not been run yet. Choose Run.';
const EMPTY = 'Write a query, or choose Plot beside a field on the left.';
const UNREAD =
  'This query came from another site. Read it before you choose Run: it runs with your permissions.';

/** Shows the result as a chart or a table. The previous result stays visible until the next one has loaded. */
export function ResultPane(props: {
  readonly search: ExploreSearch;
  readonly state: RunState;
  /** The query came from an external link, and the user has not run it yet. */
  readonly isUnread: boolean;
  readonly onChange: (change: ExploreSearch) => void;
  /** `undefined` when the query does not use the time range. */
  readonly onZoom: ((range: TimeRange) => void) | undefined;
  readonly onZoomOut: () => void;
  /** Selects the full time range of the table; `undefined` when the table has no rows. */
  readonly onAllTimes: (() => void) | undefined;
  readonly onRun: () => void;
  /** The query with filter conditions added; `undefined` when the values cannot be filtered. */
  readonly filtered: (
    columnValues: readonly ColumnValue[],
    isOut: boolean,
  ) => FilterEdit | undefined;
  readonly onFilter: (edit: FilterEdit) => void;
  /** Adds a time condition to the query, for the zoomed range if there is one; `undefined` when the query has one already. */
  readonly onBound: ((range: TimeRange | undefined) => void) | undefined;
  readonly follow: Follow;
}) {
  const { search, state, isUnread, onChange, onZoom, onRun, filtered, onFilter, follow } = props;
  const { result, error } = state;
  const [ownZoom, setOwnZoom] = useState<TimeRange | undefined>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new result resets the view.
  useEffect(() => setOwnZoom(undefined), [result?.frame]);
  const view = viewOf(search) ?? (result ? viewThatFits(result.frame) : 'table');
  return (
    <section className="result" aria-label="Result" aria-busy={state.isRunning}>
      {state.isRunning && <div className="result-progress" />}
      {error !== undefined && <ProblemNote error={error} onRetry={onRun} />}
      {result === undefined ? (
        error === undefined && (
          <p className="empty soft">
            {state.isRunning ? 'Running …' : isUnread ? UNREAD : search['q'] ? NOT_RUN : EMPTY}
          </p>
        )
      ) : (
        <div className={`result-content ${state.isRunning || error ? 'result-old' : ''}`}>
          <div className="result-head">
            <fieldset className="segments" aria-label="View">
              {VIEWS.map((each) => (
                <button
                  key={each}
                  type="button"
                  aria-pressed={view === each}
                  onClick={() => onChange({ view: each })}
                >
                  {VIEW_LABELS[each]}
                </button>
              ))}
            </fieldset>
            {result.frame.isCut && (
              <span className="chip warn">
                first {countText(MAX_ROW_COUNT)} rows shown; export for all rows
              </span>
            )}
            {onZoom === undefined && result.frame.timeIndex !== undefined && (
              <UnboundNote
                zoom={view === 'table' || view === 'stat' ? undefined : ownZoom}
                onBound={props.onBound}
                onWhole={() => setOwnZoom(undefined)}
              />
            )}
            {view === 'table' && result.frame.timeIndex !== undefined && (
              <span className="row end wrap">
                <span className="hint soft">{follow.statusText}</span>
                <span className="visually-hidden" role="status">
                  {follow.spoken}
                </span>
                <SearchCheckbox
                  label="follow"
                  name="follow"
                  alsoOn={{ view: 'table', sort: `-${timeName(result.frame)}` }}
                />
              </span>
            )}
            {view !== 'table' && view !== 'stat' && (
              <span className="row end">
                <SearchCheckbox label="log" name="scale" on="log" />
                {(view === 'area' || view === 'bar') && (
                  <SearchCheckbox label="stack" name="stack" />
                )}
              </span>
            )}
          </div>
          {view === 'table' ? (
            <TableView
              result={result}
              origin={result.ran.typed}
              search={search}
              onChange={onChange}
              filtered={(columnValues, isOut) => filtered([columnValues], isOut)}
              onFilter={onFilter}
              newAfter={follow.newAfter}
              onReading={follow.onReading}
            />
          ) : (
            <Drawn {...{ ...props, result, view, ownZoom, setOwnZoom }} />
          )}
        </div>
      )}
    </section>
  );
}

/** The note for a query that does not use the time range. */
function UnboundNote(props: {
  /** The range to which only the chart is zoomed. */
  readonly zoom: TimeRange | undefined;
  readonly onBound: ((range: TimeRange | undefined) => void) | undefined;
  readonly onWhole: () => void;
}) {
  const { zoom, onBound, onWhole } = props;
  return (
    <span className="row wrap hint soft">
      <span>
        {zoom
          ? 'Only the chart is zoomed: this query does not use '
          : 'The time range does not apply: this query does not use '}
        <code>{'${from}'}</code>.
      </span>
      {onBound && (
        <button type="button" className="button small" onClick={() => onBound(zoom)}>
          {zoom ? 'Apply zoom to query' : 'Add time range'}
        </button>
      )}
      {zoom && (
        <button type="button" className="button small" onClick={onWhole}>
          Show all
        </button>
      )}
    </span>
  );
}

function Drawn(
  props: Parameters<typeof ResultPane>[0] & {
    readonly result: NonNullable<RunState['result']>;
    readonly view: Exclude<View, 'table'>;
    readonly ownZoom: TimeRange | undefined;
    readonly setOwnZoom: (range: TimeRange | undefined) => void;
  },
) {
  const { result, view, search, onChange, onZoom, onZoomOut, onAllTimes } = props;
  const { ownZoom, setOwnZoom, filtered, onFilter } = props;
  const { frame, ran } = result;
  const set = useMemo(() => buildSeries(frame, numericNames(frame)), [frame]);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new result resets the view.
  useEffect(() => setHidden(new Set()), [frame]);
  const whole = useMemo(() => extentOf(set, onZoom ? ran.range : undefined), [set, ran, onZoom]);
  const shown = useMemo(() => set.series.filter(({ key }) => !hidden.has(key)), [set, hidden]);
  const colours = useMemo(() => new Map(set.series.map(({ key }, index) => [key, index])), [set]);
  const colourOf = (key: string): number => colours.get(key) ?? 0;
  const height = useHeight();
  if (view === 'stat') return <StatView frame={frame} set={set} range={whole} />;
  if (set.series.length === 0) {
    return (
      <div className="empty">
        <p className="soft">
          {frame.rowCount === 0
            ? 'No rows in this time range.'
            : 'A chart needs a time column and a numeric column.'}
        </p>
        {frame.rowCount === 0 && onZoom && onAllTimes && (
          <button type="button" className="button" onClick={onAllTimes}>
            Show full time range
          </button>
        )}
        {frame.rowCount > 0 && (
          <button type="button" className="button" onClick={() => onChange({ view: 'table' })}>
            Show as table
          </button>
        )}
      </div>
    );
  }
  return (
    <div className="drawn" ref={height.box}>
      <TimeChart
        series={shown}
        kind={view}
        range={ownZoom ?? whole}
        isLog={search['scale'] === 'log'}
        isStacked={search['stack'] === '1'}
        height={height.px}
        colourOf={colourOf}
        onTable={() => onChange({ view: 'table' })}
        onZoom={onZoom ?? setOwnZoom}
        onZoomOut={onZoom ? onZoomOut : () => setOwnZoom(undefined)}
      />
      <Legend
        series={set.series}
        totalCount={set.totalCount}
        rightUnit={axesOf(shown, view === 'heat').right}
        isGrouped={/\bgroup\s+by\b/i.test(ran.typed)}
        hidden={hidden}
        colourOf={colourOf}
        onHide={setHidden}
        onFilter={({ labels }) => {
          const columnValues = labels.map(([column, text]) => ({
            column,
            text: text === '' ? null : text,
          }));
          const edit = filtered(columnValues, false);
          if (edit !== undefined) onFilter(edit);
        }}
      />
    </div>
  );
}

const timeName = ({ columns, timeIndex }: Frame): string => columns[timeIndex ?? 0]?.name ?? '';

const numericNames = ({ columns }: Frame): readonly string[] =>
  columns.filter(isNumeric).map(({ name }) => name);

/** A line chart for numbers over time, a stat for a single number, and a table for all other results. */
function viewThatFits(frame: Frame): View {
  const hasNumbers = frame.columns.some(isNumeric);
  if (frame.timeIndex !== undefined && hasNumbers && frame.rowCount > 1) return 'line';
  return frame.rowCount === 1 && hasNumbers && frame.columns.length <= 2 ? 'stat' : 'table';
}

/** The requested range or, without one, the extent of the data. */
function extentOf({ series }: SeriesSet, requested: TimeRange | undefined): TimeRange {
  if (requested !== undefined) return requested;
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (const { times } of series) {
    if (times.length === 0) continue;
    fromMs = Math.min(fromMs, times[0] as number);
    toMs = Math.max(toMs, times.at(-1) as number);
  }
  if (fromMs > toMs) return { fromMs: 0, toMs: 1 };
  return fromMs === toMs ? { fromMs: fromMs - 500, toMs: toMs + 500 } : { fromMs, toMs };
}

/** The chart's share of the available height, between 200 and 560 pixels. */
function useHeight() {
  const box = useRef<HTMLDivElement>(null);
  const [px, setPx] = useState(320);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      const room = element.clientHeight;
      setPx(Math.max(200, Math.min(560, Math.round(room * 0.66))));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, px };
}
