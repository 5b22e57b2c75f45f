import type { Counter, FreeDiskSpace, Route } from '@plinth/kernel';

/**
 * Routes that work on a full disk although their method is not GET or DELETE: they store nothing, or bound or free storage.
 * Statements and plugins that write are refused when their rows arrive.
 */
export const WORK_ON_FULL_DISK: ReadonlySet<string> = new Set([
  // Time series: queries, deletions, and endpoints that can be either.
  'POST /ping',
  'POST /query',
  'POST /api/v2/query',
  'POST /api/v2/query/*',
  'POST /api/v3/query_sql',
  'POST /api/v3/query_influxql',
  'POST /api/v3/query_legacyql',
  'POST /arrow.flight.protocol.FlightService/:method',
  'POST /api/v2/delete',
  'POST /api/v3/plugin_test/wal',
  'POST /api/v3/plugin_test/schedule',
  'POST /api/v3/engine/*',
  'POST /api/v3/configure/processing_engine_trigger/disable',
  // A shorter retention period deletes rows.
  'POST /api/v3/configure/database/retention_period',
  'PUT /api/v3/configure/database',
  'PUT /api/v3/configure/table',
  'POST /ops/v1/tsdb/storage/flush',
  'POST /ops/v1/tsdb/storage/compact',
  // Limits are counted in memory.
  'POST /json',
  'POST /ops/v1/rate-limits/check',
  'POST /ops/v1/rate-limits/check-batch',
  'POST /ops/v1/rate-limits/finish',
  'POST /ops/v1/rate-limits/:identity/reset',
  'POST /ops/v1/apps/:app/suspend',
  // Discarding game data drafts frees storage.
  'POST /api/editor/discard',
  'POST /api/editor/discard/:type',
  // Operators need these for diagnosis.
  'POST /ops/v1/downloads',
  'PUT /ops/v1/log-level',
]);

/** Wraps a route: a write is refused with `DiskFull` before its body is read, while `diskSpace` reports an obstacle. */
export function refusedWhenFull(route: Route, diskSpace: FreeDiskSpace, refusals: Counter): Route {
  if (worksOnFullDisk(route)) return route;
  return {
    ...route,
    check(request) {
      const { obstacle } = diskSpace;
      if (obstacle !== undefined) {
        refusals.inc();
        throw obstacle;
      }
      route.check?.(request);
    },
  };
}

function worksOnFullDisk({ method, path }: Route): boolean {
  if (method === 'GET' || method === 'DELETE') return true;
  return WORK_ON_FULL_DISK.has(`${method} ${path.replace(/\/$/, '')}`); // Some have the alias `/query/`.
}
