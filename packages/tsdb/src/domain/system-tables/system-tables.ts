import { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { VirtualTable, VirtualTables } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { SegmentsOf } from '@plinth/tsdb-model/segment.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import type { ProcessingEngine } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import type { ContinuousQueries } from '../continuous-queries/continuous-queries.js';
import { continuousQueriesTable } from '../continuous-queries/continuous-queries-table.js';
import type { RefusedWrites } from '../refused-writes/refused-writes.js';
import { refusedWritesTable } from '../refused-writes/refused-writes-table.js';
import { type AuditTrail, auditTable } from './tables/audit.js';
import { databasesTable } from './tables/databases.js';
import { distinctCachesTable } from './tables/distinct-caches.js';
import { generationDurationsTable } from './tables/generation-durations.js';
import { influxdbSchemaTable } from './tables/influxdb-schema.js';
import { type CacheList, lastCachesTable } from './tables/last-caches.js';
import { type NodeFacts, nodesTable } from './tables/nodes.js';
import { parquetFilesTable } from './tables/parquet-files.js';
import { pluginFilesTable } from './tables/plugin-files.js';
import { processingEngineLogsTable } from './tables/processing-engine-logs.js';
import {
  processingEngineTriggerArgumentsTable,
  processingEngineTriggersTable,
} from './tables/processing-engine-triggers.js';
import { publishedTablesTable } from './tables/published-tables.js';
import { queriesTable } from './tables/queries.js';
import { tablesTable } from './tables/tables.js';
import { type TokenDirectory, tokensTable } from './tables/tokens.js';

/** Sources of the rows. */
export interface SystemSources {
  readonly catalog: Catalog;
  readonly queryLog: QueryLog;
  readonly refusedWrites: RefusedWrites;
  readonly tokens: TokenDirectory;
  readonly audit: AuditTrail | undefined;
  readonly node: NodeFacts;
  readonly caches: CacheList;
  /** `undefined` until the service has started. */
  readonly processing: () => ProcessingEngine | undefined;
  /** `undefined` until the service has started. */
  readonly continuousQueries: () => ContinuousQueries | undefined;
  /** `undefined` until the service has started. */
  readonly openTables: () => OpenTables | undefined;
}

/** The databases and segments that the querying principal may see. */
interface SystemTableQuery {
  readonly view: CatalogView;
  readonly segmentsOf: SegmentsOf;
}

type OpenTable = (
  sources: SystemSources & SystemTableQuery,
  database: DatabaseSchema,
) => VirtualTable;

/**
 * Plugins, their arguments and the audit log may contain secrets. Only the operator sees their
 * rows.
 */
const ofOperator =
  (open: OpenTable): OpenTable =>
  (sources, database) => {
    const table = open(sources, database);
    return sources.view.access.isOperator ? table : { ...table, rows: () => [] };
  };

/** Tables in every database. Source: tsdb-http, "System tables and information_schema". */
const EVERYWHERE: Readonly<Record<string, OpenTable>> = {
  continuous_queries: ({ continuousQueries, view }, database) =>
    continuousQueriesTable(continuousQueries(), database, view),
  distinct_caches: ({ caches }, database) => distinctCachesTable(database, caches),
  influxdb_schema: (_sources, database) => influxdbSchemaTable(database),
  last_caches: ({ caches }, database) => lastCachesTable(database, caches),
  parquet_files: ({ segmentsOf }, database) => parquetFilesTable(database, segmentsOf),
  processing_engine_logs: ofOperator(({ processing }, database) =>
    processingEngineLogsTable(processing(), database),
  ),
  processing_engine_trigger_arguments: ofOperator(({ processing }, database) =>
    processingEngineTriggerArgumentsTable(processing(), database),
  ),
  processing_engine_triggers: ofOperator(({ processing }, database) =>
    processingEngineTriggersTable(processing(), database),
  ),
  published_tables: ({ openTables }, database) => publishedTablesTable(database, openTables()),
  queries: ({ queryLog, view }) => queriesTable(queryLog, view.access),
  refused_writes: ({ refusedWrites, view }, database) =>
    refusedWritesTable(refusedWrites, database, view.access),
};

/** Tables about the server, available only in the internal database. */
const INTERNAL: Readonly<Record<string, OpenTable>> = {
  ...EVERYWHERE,
  audit: ofOperator(({ audit }) => auditTable(audit)),
  databases: ({ view }) => databasesTable(view),
  generation_durations: () => generationDurationsTable(),
  nodes: ({ node }) => nodesTable(node),
  tables: ({ catalog, view, caches }) => tablesTable(catalog, view, caches),
  plugin_files: ofOperator(({ processing }) => pluginFilesTable(processing())),
  tokens: ({ tokens, view }) => tokensTable(tokens, view.access),
};

/** The schema `system` for queries of one database. */
export class SystemTables {
  readonly #sources: SystemSources;
  readonly #names = Object.keys(EVERYWHERE).sort();
  readonly #internalNames = Object.keys(INTERNAL).sort();

  constructor(sources: SystemSources) {
    this.#sources = sources;
  }

  of(
    database: DatabaseSchema,
    { access, segmentsOf }: { readonly access: DatabaseAccess; readonly segmentsOf: SegmentsOf },
  ): VirtualTables {
    const view = new CatalogView(this.#sources.catalog, access);
    const isInternal = database.name === INTERNAL_DATABASE;
    const tables = isInternal ? INTERNAL : EVERYWHERE;
    return {
      table: (schema, name) =>
        schema === 'system' && Object.hasOwn(tables, name)
          ? tables[name]?.({ ...this.#sources, view, segmentsOf }, database)
          : undefined,
      tableFunction: (name, args) => this.#sources.caches.tableFunction(database, name, args),
      systemTableNames: isInternal ? this.#internalNames : this.#names,
    };
  }
}
