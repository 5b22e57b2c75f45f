import { type Dialect, type HttpService, invariant } from '@plinth/kernel';
import type { TsdbDeps } from './deps.js';
import type { WriteOutcome } from './domain/engine/engine.js';
import { LazyPlanner } from './domain/sql/lazy-planner.js';
import type { Identify } from './routes/flight/flight-dialect.js';
import type { OpenTsdb } from './service.js';

export interface Tsdb extends HttpService {
  /** Stable over restarts; known once `start` has resolved. */
  readonly clusterUuid: string;
  /** Why writes are refused at the moment; `undefined` when they are taken. */
  readonly obstacle: string | undefined;
  /** Why rows stay in memory and in the log; `undefined` unless flushes have failed for minutes. */
  readonly flushObstacle: string | undefined;
  /** After `close`: statements that could not be interrupted still read and write below the data folder. */
  readonly usesFolder: boolean;
}

export interface TsdbServiceDeps extends TsdbDeps {
  /** Of everything but Arrow Flight. */
  readonly dialect: Dialect;
  /** Of everything below `/ops/v1`. */
  readonly operatorDialect: Dialect;
  /** Who a call of Arrow Flight speaks for. */
  readonly identify: Identify;
  /** Why the whole server should not be sent requests; `undefined` when it should. */
  readonly obstacle: () => Promise<string | undefined>;
}

/** What costs no engine to whoever only needs settings and types of the service. */
const loadParts = () => import('./lazy-modules.js');

/** Dashboards ask `/query` for times in milliseconds. */
const DASHBOARD_EPOCH_NS = 1_000_000n;

/** Begins to load the service's code, so that it is there when the stores are open. A failure shows at `start`. */
export function preloadTsdb(): void {
  loadParts().catch(() => undefined);
}

/** The time-series service. `start` opens its storage and recovers. */
export function createTsdb(needs: TsdbServiceDeps): Tsdb {
  const lines = needs.metrics.counter({
    name: 'influxdb3_write_lines_total',
    help: 'Lines written.',
  });
  const rejected = needs.metrics.counter({
    name: 'influxdb3_write_lines_rejected_total',
    help: 'Lines refused.',
  });
  const bytes = needs.metrics.counter({
    name: 'influxdb3_write_bytes_total',
    help: 'Bytes of request bodies with written lines, as sent.',
  });
  let opened: OpenTsdb | undefined;
  const planner = new LazyPlanner();
  const whenOpen = (): OpenTsdb => {
    invariant(opened, 'the service is used before it has started');
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
        needs,
        (text, context, queryOwner) => planner.plan(text, context, queryOwner),
        () => planner.prepare(),
      );
    },
    freeze: (moment) => whenOpen().freeze(moment),
    async tables() {
      const { tsdbTables } = await loadParts();
      const { settings, clock, random, log, fileSystem } = needs;
      const { engine, catalog, influxql, caches, processing } = whenOpen();
      const { facts, queryLog, savedQueries } = whenOpen();
      const given = {
        ...{ engine, catalog, influxql, caches, processing },
        ...{ facts, queryLog, savedQueries, storage: engine.storage },
        ...{ settings, clock, random, log },
        audit: needs.audit,
        isAuthRequired: needs.tokens.isAuthRequired,
        files: fileSystem,
        statistics: () => whenOpen().statistics(),
        obstacle: needs.obstacle,
        onWritten({ writtenCount, lineCount }: WriteOutcome, bodySizeBytes: number) {
          lines.inc(writtenCount);
          rejected.inc(lineCount - writtenCount);
          if (writtenCount > 0) bytes.inc(bodySizeBytes);
          needs.currentSpan?.()?.set('plinth.write.rows', writtenCount);
        },
      };
      return tsdbTables(given, needs);
    },
    async liveSources() {
      const { liveSources } = await loadParts();
      return liveSources({ ...whenOpen(), clock: needs.clock, log: needs.log });
    },
    warmUp() {
      whenOpen().warmUp({
        async sql(result) {
          const { resultAnswer, PiecePool, createTextFormats } = await loadParts();
          const isInfluxdb3 = needs.settings.compat === 'influxdb3';
          const format = createTextFormats()[isInfluxdb3 ? 'json_rows' : 'json_series'];
          const { rest } = await resultAnswer(result, format, new PiecePool());
          if (rest !== undefined) for await (const _piece of rest);
        },
        async influxql(run) {
          const { encodedRun } = await loadParts();
          for await (const _piece of encodedRun(run, needs.log, DASHBOARD_EPOCH_NS));
        },
      });
    },
    async close() {
      await planner.close();
      await opened?.close();
    },
  };
}
