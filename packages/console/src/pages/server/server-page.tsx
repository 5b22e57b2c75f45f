import { resultRunner } from '@plinth/console-core/api/result-runner.js';
import { buildSeries } from '@plinth/console-core/lib/chart/series.js';
import { expandMacros } from '@plinth/console-core/lib/query/macros.js';
import { type RangeText, resolveRange } from '@plinth/console-core/lib/time/time-range.js';
import {
  bytesText,
  durationText,
  quantityText,
  shortNumber,
} from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { TimeChart } from '../../components/chart/time-chart.js';
import { ProblemNote } from '../../components/controls/problem-note.js';
import { refreshMs, TimePicker } from '../../components/explore/time-picker.js';
import { SectionTabs } from '../../components/shell/section-tabs.js';
import { useServer } from '../../components/shell/server-context.js';
import { LogList } from './log-list.js';
import { PANELS, type Panel } from './panels.js';
import { SettingsList } from './settings-list.js';
import './queries.css';

const INTERNAL = '_internal';
const MAX_POINTS = 180;
const DEFAULT_REFRESH = '10s';

/** Shows the server's own metrics, settings and logs. */
export function ServerPage() {
  const info = useServer();
  const search = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const { tab = '', from = 'now-1h', to = 'now', refresh = DEFAULT_REFRESH } = search;
  const show = (range: RangeText) =>
    void navigate({ to: '/server', search: { ...search, ...range } });
  return (
    <div className="page">
      <header className="page-head">
        <h1 tabIndex={-1}>Server</h1>
        <span className="soft small">
          plinth {info.version}
          {info.node_id && ` · ${info.node_id}`}
          {info.started &&
            info.now &&
            ` · up ${durationText((Date.parse(info.now) - Date.parse(info.started)) / 1000)}`}
        </span>
        {tab === '' && (
          <span className="end">
            <TimePicker
              range={{ from, to }}
              onChange={(range) => show({ from: range.from, to: range.to })}
              defaultRefresh={DEFAULT_REFRESH}
            />
          </span>
        )}
      </header>
      <SectionTabs section="/server" />
      {tab === 'settings' && (
        <SettingsList find={search['find'] ?? ''} isAll={search['all'] === '1'} />
      )}
      {tab === 'logs' && (
        <LogList
          find={search['find'] ?? ''}
          level={search['level'] ?? ''}
          isLive={search['live'] !== 'off'}
        />
      )}
      {tab === '' && (
        <div className="panels">
          {PANELS.filter(
            ({ service }) => service === undefined || info.services.includes(service),
          ).map((panel) => (
            <PanelCard
              key={panel.title}
              panel={panel}
              range={{ from, to }}
              refresh={refresh}
              onZoom={(fromMs, toMs) =>
                show({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })
              }
            />
          ))}
        </div>
      )}
    </div>
  );
}

function PanelCard(props: {
  readonly panel: Panel;
  readonly range: RangeText;
  readonly refresh: string;
  readonly onZoom: (fromMs: number, toMs: number) => void;
}) {
  const { panel, range, refresh, onZoom } = props;
  const result = useQuery({
    queryKey: ['server', 'panel', panel.title, range.from, range.to],
    queryFn: async ({ signal }) => {
      const resolved = resolveRange(range, Date.now());
      if (resolved === undefined)
        throw new Error('invalid time range; use times such as now-1h and now');
      const at = { language: 'sql', range: resolved, maxPoints: MAX_POINTS } as const;
      const { text } = expandMacros(panel.sql, at);
      const query = { db: INTERNAL, lang: 'sql', text, isOwn: true } as const;
      const { frame } = await resultRunner.run(query, { signal, onProgress: () => undefined });
      return { frame, range: resolved };
    },
    refetchInterval: refreshMs(refresh) ?? false,
    placeholderData: (before) => before,
  });
  const series = useMemo(() => {
    if (result.data === undefined) return [];
    const names = result.data.frame.columns.map(({ name }) => name);
    return buildSeries(result.data.frame, names).series;
  }, [result.data]);
  const last = series[0]?.stats.last;
  return (
    <section className="card panel" aria-label={panel.title} aria-busy={result.isPending}>
      <div className="panel-head">
        <h2>{panel.title}</h2>
        <span className="panel-value end">
          {last === undefined || Number.isNaN(last) ? '–' : valueText(last, panel.unit)}
        </span>
      </div>
      <div className="panel-room">
        {result.isPending && <div className="skeleton" />}
        {result.isError && <ProblemNote error={result.error} />}
        {result.data && series.length === 0 && (
          <p className="soft small">No data in this time range.</p>
        )}
        {result.data && series.length > 0 && (
          <TimeChart
            series={series}
            kind={panel.kind}
            range={result.data.range}
            height={150}
            colourOf={() => 0}
            axisText={(value) => axisText(value, panel.unit)}
            onZoom={({ fromMs, toMs }) => onZoom(fromMs, toMs)}
            isPlain
          />
        )}
      </div>
      <Link
        to="/explore"
        search={{ db: INTERNAL, lang: 'sql', q: panel.sql, view: 'line', ...range }}
        className="small"
        aria-label={`Open ${panel.title} in Explore`}
      >
        Open in Explore
      </Link>
    </section>
  );
}

/** The unit is omitted, because the panel title contains it. */
const axisText = (value: number, unit: Panel['unit']): string =>
  unit === 'bytes' ? bytesText(value) : shortNumber(value);

function valueText(value: number, unit: Panel['unit']): string {
  switch (unit) {
    case 'bytes':
      return quantityText(value, 'bytes');
    case 'percent':
      return quantityText(value, 'percent');
    case 'ms':
      return quantityText(value, 'ms');
    case 'per second':
      return `${shortNumber(value)}/s`;
    case 'count':
      return shortNumber(value);
  }
}
