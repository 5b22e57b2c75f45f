import { RANGE_CONDITION } from '@plinth/console-core/lib/query/macros.js';

/** A chart of the dashboard: a query of the server's own metrics, which can be opened in Explore. */
export interface Panel {
  readonly title: string;
  readonly unit: 'per second' | 'ms' | 'bytes' | 'percent' | 'count';
  readonly kind: 'line' | 'area';
  readonly sql: string;
  /** The service that the panel is about, if it is not the time series. */
  readonly service?: string;
}

/** Returns a query for the mean of a gauge in each bucket. */
const gauge = (field: string, name: string, factor = ''): string =>
  `SELECT date_bin(\${interval}, time) AS time, avg(${field})${factor} AS ${name}
FROM metrics
WHERE ${RANGE_CONDITION} AND ${field} IS NOT NULL
GROUP BY 1
ORDER BY 1`;

/** Returns a query for the increase of a counter per second, over all its series. */
export const rate = (field: string, tags: string, name: string, factor = ''): string => {
  const group = tags === '' ? '' : `, ${tags}`;
  return `WITH buckets AS (
  SELECT date_bin(\${interval}, time) AS time${group}, max(${field}) AS value
  FROM metrics
  WHERE ${RANGE_CONDITION} AND ${field} IS NOT NULL
  GROUP BY 1${group}
), sums AS (
  SELECT time, sum(value) AS value FROM buckets GROUP BY time
), steps AS (
  SELECT time, value - lag(value) OVER (ORDER BY time) AS gained,
    date_part('epoch', time) - lag(date_part('epoch', time)) OVER (ORDER BY time) AS seconds
  FROM sums
)
SELECT time, gained / seconds${factor} AS ${name}
FROM steps
WHERE gained >= 0 AND seconds > 0
ORDER BY time`;
};

export const PANELS: readonly Panel[] = [
  {
    title: 'Lines written',
    unit: 'per second',
    kind: 'area',
    sql: rate('influxdb3_write_lines_total', '', 'lines'),
  },
  {
    title: 'Requests',
    unit: 'per second',
    kind: 'area',
    sql: rate('http_requests_total', 'method, path, status', 'requests'),
  },
  {
    title: 'Queries',
    unit: 'per second',
    kind: 'area',
    sql: rate('query_log_end2end_duration_seconds_count', '', 'queries'),
  },
  {
    title: 'Event loop lag',
    unit: 'ms',
    kind: 'line',
    sql: gauge('nodejs_eventloop_lag_seconds', 'delay', ' * 1000'),
  },
  {
    title: 'CPU',
    unit: 'percent',
    kind: 'area',
    sql: rate('process_cpu_seconds_total', '', 'cpu', ' * 100'),
  },
  {
    title: 'Memory',
    unit: 'bytes',
    kind: 'line',
    sql: gauge('process_resident_memory_bytes', 'resident'),
  },
  {
    title: 'Buffered rows',
    unit: 'bytes',
    kind: 'area',
    sql: gauge('plinth_tsdb_buffered_bytes', 'buffered'),
  },
  {
    title: 'Table files',
    unit: 'bytes',
    kind: 'line',
    sql: gauge('plinth_tsdb_segment_bytes', 'files'),
  },
  {
    title: 'Delivery attempts',
    unit: 'per second',
    kind: 'area',
    sql: rate('webhook_attempts_total', 'outcome', 'attempts'),
    service: 'webhooks',
  },
  {
    title: 'Rejected requests',
    unit: 'per second',
    kind: 'area',
    sql: rate('ratelimit_rejected_total', '"limit"', 'rejected'),
    service: 'ratelimit',
  },
];
