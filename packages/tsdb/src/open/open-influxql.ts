import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { ContinuousQueryDirectory } from '@plinth/tsdb-influxql/continuous/continuous-query-directory.js';
import { Influxql } from '@plinth/tsdb-influxql/influxql.js';
import type { Diagnostic, Statistic } from '@plinth/tsdb-influxql/show/show-server.js';
import type { TsdbDeps } from '../deps.js';
import { readDiagnostics } from '../domain/own-metrics/diagnostics.js';
import { readStatistics } from '../domain/own-metrics/statistics.js';

/** Creates InfluxQL on top of the storage engine, with the server data that its statements show. */
export function openInfluxql(
  deps: TsdbDeps,
  parts: {
    readonly catalog: RelationalCatalog;
    readonly engine: TsdbEngine;
    readonly startedMs: number;
    readonly continuousQueries: ContinuousQueryDirectory;
  },
): { readonly influxql: Influxql; statistics(): Promise<readonly Statistic[]> } {
  const { catalog, engine, startedMs, continuousQueries } = parts;
  const { settings, clock, random, log } = deps;
  const statistics = (): Promise<readonly Statistic[]> =>
    readStatistics(deps.metrics, {
      databases: () => catalog.databases(),
      seriesCounter(table) {
        const store = engine.tableStore(table);
        return async () => {
          await store.series.whenIndexed();
          return store.series.index.count;
        };
      },
      onUncounted: ({ name: database }, { name: table }, err) =>
        log.error({ err, database, table }, 'cannot count the series of a table'),
    });
  const diagnostics = (): readonly Diagnostic[] =>
    readDiagnostics({
      version: settings.reported_version,
      commit: settings.reported_revision,
      startedMs,
      nowMs: clock.nowMs(),
    });
  const influxql = new Influxql({
    ...{ catalog, engine, changes: { catalog, engine }, users: deps.users, clock, random },
    continuousQueries,
    diagnostics: {
      ...{ statistics, diagnostics },
      storageOf: (table) => engine.tableStore(table).storage(),
    },
    limits: {
      bucketCountPerSeries: settings.max_select_buckets_per_series,
      bucketCount: settings.max_select_buckets,
      heldValueCount: settings.max_held_values,
    },
    lookbackNs: BigInt(settings.query_lookback_ms) * 1_000_000n,
  });
  return { influxql, statistics };
}
