import type { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { printSingleUnit } from '@plinth/tsdb-influxql/ast/print.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { DURATION, systemTable, TEXT, TIME_NS, UINT64 } from '../system-tables/system-table.js';
import type { ContinuousQueries, ListedQuery } from './continuous-queries.js';

/**
 * Continuous queries and rollups of a database; in `_internal`, those of all databases that the caller may read. The
 * columns about runs cover the time since the server started.
 */
export function continuousQueriesTable(
  queries: ContinuousQueries | undefined,
  database: DatabaseSchema,
  view: CatalogView,
): VirtualTable {
  const columns = {
    database: TEXT,
    name: TEXT,
    language: TEXT,
    query: TEXT,
    target: TEXT,
    run_every: TEXT,
    run_for: TEXT,
    position: TIME_NS,
    last_run: TIME_NS,
    last_duration: DURATION,
    last_error: TEXT,
    rows_written: UINT64,
  };
  const isShown = (name: string): boolean =>
    database.name === INTERNAL_DATABASE
      ? view.database(name) !== undefined
      : name === database.name;
  return systemTable(columns, () =>
    (queries?.all() ?? []).filter((query) => isShown(query.database)).map(rowOf),
  );
}

function rowOf({ definition, state, ...query }: ListedQuery) {
  const durationMs = state?.lastDurationMs;
  return {
    database: query.database,
    name: query.name,
    language: definition.language,
    query: definition.text,
    target: query.target,
    run_every: query.everyNs && printSingleUnit(query.everyNs),
    run_for: query.forNs && printSingleUnit(query.forNs),
    position: query.positionNs,
    last_run: state?.lastRunNs,
    last_duration: durationMs === undefined ? undefined : BigInt(Math.round(durationMs * 1e6)),
    last_error: query.lastError,
    rows_written: state?.rowCount ?? 0n,
  };
}
