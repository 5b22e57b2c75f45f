import { EgressSender } from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { WidePlanner } from '@plinth/tsdb-model/query/wide-plan.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import {
  MAX_PAGE_BYTES,
  PAGE_TIMEOUT_MS,
  TrinoClient,
} from '@plinth/tsdb-open-tables/wide/trino-client.js';
import { trinoEndpoint } from '@plinth/tsdb-open-tables/wide/trino-endpoint.js';
import { WideQueries } from '@plinth/tsdb-open-tables/wide/wide-queries.js';
import type { TsdbDeps } from '../deps.js';
import type { SystemTables } from '../domain/system-tables/system-tables.js';

/** Creates the queries on Trino. Without `query.wide_url`, they are rejected. */
export function openWideQueries(
  deps: TsdbDeps,
  options: {
    readonly catalog: RelationalCatalog;
    readonly engine: TsdbEngine;
    readonly openTables: OpenTables;
    readonly queryLog: QueryLog;
    readonly systemTables: SystemTables;
    readonly planner: WidePlanner;
  },
): WideQueries {
  const { engine, systemTables, ...parts } = options;
  const { clock, query, settings } = deps;
  return new WideQueries({
    ...parts,
    clock,
    storeOf: (schema) => engine.tableStore(schema),
    // Statements that name system tables are rejected, so their rows do not matter.
    virtualTables: (database, access) =>
      systemTables.of(database, { access, segmentsOf: () => [] }),
    trino: query.wide_url === undefined ? undefined : connection(query.wide_url, deps),
    wideBytes: query.wide_bytes,
    queryTimeoutMs: settings.query_timeout_ms,
  });
}

function connection(url: string, { clock, fileSystem, log }: TsdbDeps) {
  const endpoint = trinoEndpoint(url);
  // An operator chose the address, so that of a private network is allowed.
  const sender = new EgressSender(
    {
      ...{ allowedTargets: ['*'], allowedPorts: [], extraCaFile: undefined },
      ...{ proxy: undefined, directHosts: [] },
      ...{ timeoutMs: PAGE_TIMEOUT_MS, maxResponseBytes: MAX_PAGE_BYTES },
    },
    { clock, files: fileSystem, ownListeners: [] },
  );
  const client = new TrinoClient(endpoint, {
    ...{ sender, clock },
    onError: (error) => log.warn({ ...error }, 'query failed in Trino'),
  });
  return { client, catalog: endpoint.catalog };
}
