import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import { isCauseUnknown, toQueryError } from '../engine-failure.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { SeriesIndex } from '../series/series-index.js';
import type { TableStore } from '../table/table-store.js';
import { visibleFrom } from '../table/visible-from.js';

/**
 * Returns the error of a failed query that reads `scans`. If their files may be the cause, they are
 * verified.
 */
export function handleQueryError(
  error: unknown,
  signal: AbortSignal,
  scans: readonly PreparedScan[],
): Error {
  const failure = toQueryError(error, signal);
  if (isCauseUnknown(failure)) for (const scan of scans) scan.invalidate?.();
  return failure;
}

/**
 * Sources of queries: columns in memory (of segments and of unflushed rows), and SQL sources for
 * DuckDB.
 */
export class QuerySources {
  readonly #catalog: Pick<Catalog, 'databaseById'>;
  readonly #storeOf: (schema: TableSchema) => TableStore;
  /** Number of queries served without DuckDB. */
  columnQueryCount = 0;

  constructor(
    catalog: Pick<Catalog, 'databaseById'>,
    storeOf: (schema: TableSchema) => TableStore,
  ) {
    this.#catalog = catalog;
    this.#storeOf = storeOf;
  }

  /** Returns the result from columns in memory; `undefined` if DuckDB has to run the query. */
  async computeFromColumns(
    columnQuery: ColumnQuery,
    nowNs: bigint,
    queryContext: QueryContext,
  ): Promise<Iterable<ResultChunk> | undefined> {
    const store = this.#storeOf(columnQuery.table);
    try {
      const chunks = await store.columnQueries.compute(
        columnQuery,
        this.visibleFrom(columnQuery.table, nowNs),
        queryContext,
      );
      if (chunks !== undefined) this.columnQueryCount++;
      return chunks;
    } catch (error) {
      // DuckDB reads columns that are not in memory yet, and may fail.
      throw toQueryError(error, queryContext.signal);
    }
  }

  /** Pins the data that DuckDB reads for one part of a query. */
  async prepareScan(
    request: ScanRequest,
    nowNs: bigint,
    queryContext: QueryContext,
  ): Promise<PreparedScan> {
    if (request.source !== undefined) {
      return { segments: [], hasUnion: false, ...(await request.source.prepare(request)) };
    }
    try {
      const fromNs = this.visibleFrom(request.table, nowNs);
      return await this.#storeOf(request.table).prepareScan(request, fromNs, queryContext.signal);
    } catch (error) {
      if (error instanceof FileDamaged) throw tsdbError('query_failed', error.message, error);
      // Rows are first moved to DuckDB, which may fail.
      throw toQueryError(error, queryContext.signal);
    }
  }

  /** Resolves when the series of these tables are in memory; `undefined` if they already are. */
  indexed(tables: readonly TableSchema[], queryContext: QueryContext): Promise<void> | undefined {
    const waits = tables.flatMap((table) => this.#storeOf(table).series.whenIndexed() ?? []);
    if (waits.length === 0) return undefined;
    return Promise.all(waits).then(
      () => undefined,
      (error: unknown) => {
        throw toQueryError(error, queryContext.signal);
      },
    );
  }

  /** Returns the start of the visible time range: older rows have expired. */
  visibleFrom(table: TableSchema, nowNs: bigint): bigint {
    const database = this.#catalog.databaseById(table.databaseId);
    return visibleFrom({ retentionNs: database?.retentionNs }, table, nowNs);
  }

  seriesOf(table: TableSchema): SeriesIndex {
    return this.#storeOf(table).series.index;
  }

  hasDeletions(table: TableSchema): boolean {
    return this.#storeOf(table).tombstones.hadAny;
  }
}
