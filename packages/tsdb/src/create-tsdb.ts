import { type ApiConventions, type HttpService, invariant } from '@plinth/kernel';
import type { WriteOutcome } from '@plinth/tsdb-model/engine.js';
import { LazyPlanner } from '@plinth/tsdb-sql/lazy-planner.js';
import type { TsdbDeps } from './deps.js';
import type { Identify } from './routes/flight/flight-conventions.js';
import type { OpenTsdb } from './service.js';

export interface Tsdb extends HttpService {
  /** Stable across restarts; known once `start` has resolved. */
  readonly clusterUuid: string;
  /** Why writes are rejected now; `undefined` if they are accepted. */
  readonly obstacle: string | undefined;
  /** Why rows stay in memory and in the log; `undefined` unless flushes have failed for minutes. */
  readonly flushObstacle: string | undefined;
  /** True if statements that could not be interrupted still use the data folder after `close`. */
  readonly usesFolder: boolean;
}

export interface TsdbServiceDeps extends TsdbDeps {
  /** API conventions of all routes other than Arrow Flight. */
  readonly conventions: ApiConventions;
  /** API conventions of all routes below `/ops/v1`. */
  readonly operatorConventions: ApiConventions;
  /** Identifies the caller of an Arrow Flight call. */
  readonly identify: Identify;
  /** Returns why the server is not ready for requests; `undefined` if it is. */
  readonly obstacle: () => Promise<string | undefined>;
}

/** Loads the modules on demand, so that code that only needs settings and types does not load DuckDB. */
const loadParts = () => import('./lazy-modules.js');

/** Dashboards request timestamps in milliseconds from `/query`. */
const DASHBOARD_EPOCH_NS = 1_000_000n;

/**
 * Starts loading the service's code, so that it is ready when the stores are open. `start` reports
 * a failure.
 */
export function preloadTsdb(): void {
  loadParts().catch(() => undefined);
}

/** Creates the time-series service. `start` opens its storage and recovers. */
export function createTsdb(deps: TsdbServiceDeps): Tsdb {
  const lines = deps.metrics.counter({
    name: 'influxdb3_write_lines_total',
    help: 'Lines written.',
  });
  const rejected = deps.metrics.counter({
    name: 'influxdb3_write_lines_rejected_total',
    help: 'Lines rejected.',
  });
  const bytes = deps.metrics.counter({
    name: 'influxdb3_write_bytes_total',
    help: 'Size of write request bodies, as sent.',
  });
  const exemplars = deps.metrics.counter({
    name: 'influxdb3_write_exemplars_dropped_total',
    help: 'Exemplars in written metrics, which are not stored.',
  });
  let opened: OpenTsdb | undefined;
  const planner = new LazyPlanner();
  const lookbackNs = BigInt(deps.settings.query_lookback_ms) * 1_000_000n;
  const whenOpen = (): OpenTsdb => {
    invariant(opened, 'the service must be started before it is used');
    return opened;
  };
  return {
    name: 'tsdb',
    get clusterUuid() {
      return whenOpen().catalog.clusterUuid;
    },
    get obstacle() {
      return opened?.engine.obstacle;
    },
    get flushObstacle() {
      return opened?.engine.flushObstacle;
    },
    get usesFolder() {
      return opened?.usesFolder ?? false;
    },
    async start() {
      const { openTsdb } = await loadParts();
      opened = await openTsdb(
        deps,
        {
          plan: (text, context, queryContext) =>
            planner.plan(text, { ...context, lookbackNs }, queryContext),
          planWide: (text, context) => planner.planWide(text, context),
        },
        () => planner.prepare(),
      );
    },
    freeze: (moment) => whenOpen().freeze(moment),
    async routeGroups() {
      const { tsdbRouteGroups } = await loadParts();
      const { settings, clock, random, log, fileSystem } = deps;
      const { engine, catalog, influxql, caches, processing, openTables, continuousQueries } =
        whenOpen();
      const { wideQueries } = whenOpen();
      const { facts, queryLog, savedQueries, conversions, liveQueries } = whenOpen();
      const routeDeps = {
        ...{ engine, catalog, influxql, caches, processing, openTables, continuousQueries },
        ...{ facts, queryLog, savedQueries, conversions, liveQueries, wideQueries },
        storage: engine.storage,
        ...{ settings, clock, random, log },
        audit: deps.audit,
        tokenManagement: deps.tokenManagement,
        isAuthRequired: deps.tokens.isAuthRequired,
        files: fileSystem,
        statistics: () => whenOpen().statistics(),
        obstacle: deps.obstacle,
        onWritten(
          { writtenCount, lineCount, exemplarCount = 0 }: WriteOutcome,
          bodySizeBytes: number,
        ) {
          exemplars.inc(exemplarCount);
          lines.inc(writtenCount);
          rejected.inc(lineCount - writtenCount);
          if (writtenCount > 0) bytes.inc(bodySizeBytes);
          deps.currentSpan?.()?.set('plinth.write.rows', writtenCount);
        },
      };
      return tsdbRouteGroups(routeDeps, deps);
    },
    async liveSources() {
      const { liveSources } = await loadParts();
      return liveSources({ ...whenOpen(), clock: deps.clock, log: deps.log });
    },
    warmUp() {
      whenOpen().warmUp({
        async sql(result) {
          const { resultResponse, PiecePool, createTextFormats } = await loadParts();
          const isInfluxdb3 = deps.settings.compat === 'influxdb3';
          const format = createTextFormats()[isInfluxdb3 ? 'json_rows' : 'json_series'];
          const { rest } = await resultResponse(result, format, new PiecePool());
          if (rest !== undefined) for await (const _piece of rest);
        },
        async influxql(run) {
          const { encodedRun } = await loadParts();
          for await (const _piece of encodedRun(run, DASHBOARD_EPOCH_NS));
        },
      });
    },
    beginDraining: () => opened?.liveQueries.end(),
    async close() {
      opened?.liveQueries.end();
      await planner.close();
      await opened?.close();
    },
  };
}
