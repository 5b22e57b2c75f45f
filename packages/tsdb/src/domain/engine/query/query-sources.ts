import { tsdbError } from '../../../errors.js';
import type { ResultChunk } from '../../../model/columns/result.js';
import type { InMemoryRequest } from '../../../model/in-memory-request.js';
import type { QueryOwner } from '../../../model/query-owner.js';
import type { ScanRequest } from '../../../model/scan.js';
import type { TableSchema } from '../../../model/schema.js';
import { FileDamaged } from '../../../storage/segments/file-sums.js';
import type { Catalog } from '../../catalog/catalog.js';
import { isUnexplained, toQueryError } from '../engine-failure.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { SeriesIndex } from '../series/series-index.js';
import type { TableStore } from '../table/table-store.js';
import { visibleFrom } from '../table/visible-from.js';

/** What a query fails with that reads `scans`; where their files may be to blame, they are looked at. */
export function failureOf(
  error: unknown,
  signal: AbortSignal,
  scans: readonly PreparedScan[],
): Error {
  const failure = toQueryError(error, signal);
  if (isUnexplained(failure)) for (const scan of scans) scan.invalidate?.();
  return failure;
}

/** What queries read: rows in memory, and sources for the engine. */
export class QuerySources {
  readonly #catalog: Pick<Catalog, 'databaseById'>;
  readonly #storeOf: (schema: TableSchema) => TableStore;
  /** Queries that were answered without the engine. */
  inMemoryCount = 0;

  constructor(
    catalog: Pick<Catalog, 'databaseById'>,
    storeOf: (schema: TableSchema) => TableStore,
  ) {
    this.#catalog = catalog;
    this.#storeOf = storeOf;
  }

  /** The answer of rows in memory; `undefined`: they do not answer this. */
  async answerInMemory(
    inMemory: InMemoryRequest,
    nowNs: bigint,
    queryOwner: QueryOwner,
  ): Promise<Iterable<ResultChunk> | undefined> {
    const store = this.#storeOf(inMemory.table);
    try {
      const chunks = await store.inMemory.answer(
        inMemory,
        this.visibleFrom(inMemory.table, nowNs),
        queryOwner,
      );
      if (chunks !== undefined) this.inMemoryCount++;
      return chunks;
    } catch (error) {
      // Columns that are not in memory yet are read by the engine.
      throw toQueryError(error, queryOwner.signal);
    }
  }

  /** Pins what the engine reads for one part of a query. */
  async prepareScan(
    request: ScanRequest,
    nowNs: bigint,
    queryOwner: QueryOwner,
  ): Promise<PreparedScan> {
    if (request.source !== undefined) {
      return { segments: [], ...(await request.source.prepare(request)) };
    }
    try {
      const fromNs = this.visibleFrom(request.table, nowNs);
      return await this.#storeOf(request.table).prepareScan(request, fromNs, queryOwner.signal);
    } catch (error) {
      if (error instanceof FileDamaged) throw tsdbError('query_failed', error.message, error);
      // Rows are handed to the engine first.
      throw toQueryError(error, queryOwner.signal);
    }
  }

  /** Resolves when the series of these tables are in memory; `undefined`: they are. */
  indexed(tables: readonly TableSchema[], queryOwner: QueryOwner): Promise<void> | undefined {
    const waits = tables.flatMap((table) => this.#storeOf(table).series.whenIndexed() ?? []);
    if (waits.length === 0) return undefined;
    return Promise.all(waits).then(
      () => undefined,
      (error: unknown) => {
        throw toQueryError(error, queryOwner.signal);
      },
    );
  }

  /** Older rows are there no more. */
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
