import { queryRows } from '@plinth/console-core/api/tsdb.js';
import { fetchHistory } from '@plinth/console-core/api/webhooks.js';
import { expandMacros } from '@plinth/console-core/lib/query/macros.js';
import { parseDuration } from '@plinth/console-core/lib/time/duration.js';
import { shortNumber } from '@plinth/console-core/lib/units.js';
import { successPercent } from '@plinth/console-core/lib/webhooks/delivery-history.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DeliveryBars } from '../../components/chart/delivery-bars.js';
import { SearchSelect } from '../../components/search/search-fields.js';
import { useSearchParams } from '../../components/search/use-search-params.js';
import { rate } from '../server/panels.js';

/** The time ranges of the tiles, and the one without a choice. */
const RANGES = [
  ['1h', 'Last 1 h'],
  ['6h', 'Last 6 h'],
  ['24h', 'Last 24 h'],
  ['7d', 'Last 7 d'],
] as const;
const DEFAULT_RANGE = '1h';
const HOUR_SEC = 3600;
const POINT_COUNT = 60;
const REFRESH_MS = 10_000;
/** Longer ranges change less between two refreshes, and cost more. */
const REFRESH_SHARE = 1 / 2000;
const WIDTH = 120;
const HEIGHT = 28;

const TILES: readonly (readonly [
  title: string,
  unit: string,
  sql: string,
  to: string,
  service: string,
])[] = [
  ['Lines written', '/s', rate('influxdb3_write_lines_total', '', 'value'), '/data', 'tsdb'],
  [
    'Queries',
    '/s',
    rate('query_log_end2end_duration_seconds_count', '', 'value'),
    '/queries',
    'tsdb',
  ],
  [
    'Rejected requests',
    '/s',
    rate('ratelimit_rejected_total', '"limit"', 'value'),
    '/limits',
    'ratelimit',
  ],
];

/** The load in the selected time range, from the server's own metrics, and the deliveries of the last few hours. */
export function Tiles({ services }: { readonly services: readonly string[] }) {
  const measured = TILES.filter(([, , , , service]) => services.includes(service));
  return (
    <section className="stack" aria-labelledby="activity-title">
      <div className="row">
        <h2 id="activity-title">Activity</h2>
        {services.includes('tsdb') && (
          <span className="end">
            <SearchSelect
              label="Time range"
              name="range"
              options={RANGES}
              fallback={DEFAULT_RANGE}
            />
          </span>
        )}
      </div>
      <div className="home-tiles">
        {services.includes('tsdb') && measured.map((tile) => <Tile key={tile[0]} tile={tile} />)}
        {services.includes('webhooks') && <Deliveries />}
      </div>
    </section>
  );
}

function Deliveries() {
  const { data: history } = useQuery({
    queryKey: ['webhooks', 'history'],
    queryFn: fetchHistory,
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  const percent = history && successPercent(history);
  return (
    <Link to="/webhooks" className="card home-tile">
      <span className="soft small">Deliveries, last 6 h</span>
      <span className="home-value">{percent === undefined ? '–' : `${percent} % ok`}</span>
      {history && <DeliveryBars history={history} />}
    </Link>
  );
}

function Tile({ tile }: { readonly tile: (typeof TILES)[number] }) {
  const [title, unit, sql, to] = tile;
  const [{ range: rangeText = DEFAULT_RANGE }] = useSearchParams();
  const spanMs = (parseDuration(rangeText) || HOUR_SEC) * 1000;
  const values = useQuery({
    queryKey: ['server', 'tile', title, spanMs],
    queryFn: async () => {
      const toMs = Date.now();
      const range = { fromMs: toMs - spanMs, toMs };
      const { text } = expandMacros(sql, { language: 'sql', range, maxPoints: POINT_COUNT });
      const rows = await queryRows<{ value: number }>({ db: '_internal', lang: 'sql', text });
      return rows.map(({ value }) => Number(value));
    },
    refetchInterval: Math.max(REFRESH_MS, spanMs * REFRESH_SHARE),
    placeholderData: (before) => before,
    retry: false,
  });
  const last = values.data?.at(-1);
  return (
    <Link to={to} className="card home-tile">
      <span className="soft small">{title}</span>
      <span className="home-value">
        {last === undefined ? '–' : `${shortNumber(last)} ${unit}`}
      </span>
      <Sparkline values={values.data ?? []} />
    </Link>
  );
}

function Sparkline({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(...values, 1e-9);
  const points = values.map((value, index) => {
    const x = (index / Math.max(1, values.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`;
  });
  return (
    <svg
      aria-hidden="true"
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {points.length > 1 && <polyline points={points.join(' ')} />}
    </svg>
  );
}
