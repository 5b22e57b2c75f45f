import { type HttpService, invariant } from '@plinth/kernel';
import type { OpenTsdb, TsdbNeeds } from './service.js';

export interface Tsdb extends HttpService {
  /** Stable over restarts; known once `start` has resolved. */
  readonly clusterUuid: string;
}

/** The time-series service. `start` opens its storage and recovers; `register` comes after it. */
export function createTsdb(needs: TsdbNeeds): Tsdb {
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
  const whenOpen = (): OpenTsdb => {
    invariant(opened, 'the service is used before it has started');
    return opened;
  };
  return {
    name: 'tsdb',
    get clusterUuid() {
      return whenOpen().catalog.clusterUuid;
    },
    async start() {
      // Loaded here, so that settings and types of the service cost no engine to whoever only needs those.
      const [{ SqlPlanner }, { openTsdb }] = await Promise.all([
        import('./domain/sql/sql-planner.js'),
        import('./service.js'),
      ]);
      const planner = await SqlPlanner.load();
      opened = await openTsdb(needs, (text, context) => planner.plan(text, context));
    },
    async register(app) {
      const { settings, clock, random, log, fileSystem } = needs;
      const { registerTsdbRoutes } = await import('./routes/register-routes.js');
      await registerTsdbRoutes(app, {
        engine: whenOpen().engine,
        catalog: whenOpen().catalog,
        influxql: whenOpen().influxql,
        caches: whenOpen().caches,
        settings,
        clock,
        random,
        log,
        files: fileSystem,
        onWritten({ writtenCount, lineCount }, bodySizeBytes) {
          lines.inc(writtenCount);
          rejected.inc(lineCount - writtenCount);
          if (writtenCount > 0) bytes.inc(bodySizeBytes);
        },
      });
    },
    async close() {
      await opened?.close();
    },
  };
}
