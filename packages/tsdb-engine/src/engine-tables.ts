import type { Clock } from '@plinth/kernel';
import { type Catalog, qualifiedTableName } from '@plinth/tsdb-catalog/catalog.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { ColumnCache } from './columns/cache/column-cache.js';
import type { EngineDeps } from './engine-deps.js';
import { TableStore } from './table/table-store.js';
import { visibleFrom } from './table/visible-from.js';

/**
 * Delay after startup before the series of all tables are read. A query that needs them earlier reads them immediately.
 */
const INDEX_DELAY_MS = 500;

/** The node's table stores, including stores of deleted tables that can be restored. */
export class EngineTables {
  readonly #stores = new Map<number, TableStore>();
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #makeStore: (schema: TableSchema) => TableStore;
  readonly #closing = new AbortController();
  #indexing: Promise<void> | undefined;

  constructor(deps: EngineDeps, cache: ColumnCache) {
    const { catalog, clock, duckDb, files, verifier, report } = deps;
    this.#catalog = catalog;
    this.#clock = clock;
    const onError = (error: unknown): void => report.backgroundFailed(error);
    this.#onError = onError;
    this.#makeStore = (schema) =>
      new TableStore({
        schema,
        duckDb,
        files,
        verifier,
        cache,
        onDamaged: (segment, error) => {
          const table = qualifiedTableName(catalog, schema.id) ?? schema.name;
          report.segmentDamaged(segment, table, error);
        },
        onError,
      });
  }

  /** Creates the store if nothing was written to the table yet. */
  storeOf(schema: TableSchema): TableStore {
    let store = this.#stores.get(schema.id);
    if (store === undefined) {
      store = this.#makeStore(schema);
      this.#stores.set(schema.id, store);
    } else if (schema.version > store.schema.version) {
      store.schema = schema;
    }
    return store;
  }

  find(tableId: number): TableStore | undefined {
    return this.#stores.get(tableId);
  }

  values(): IterableIterator<TableStore> {
    return this.#stores.values();
  }

  get count(): number {
    return this.#stores.size;
  }

  forget(tableId: number): void {
    this.#stores.delete(tableId);
  }

  segmentsOf(tableId: number): readonly Segment[] {
    return this.#stores.get(tableId)?.segments.map((open) => open.segment) ?? [];
  }

  /** Deleted tables keep their data, because they can be restored. */
  visibleFromNs(store: TableStore): bigint {
    const table = this.#catalog.tableById(store.tableId);
    const database = table && this.#catalog.databaseById(table.databaseId);
    if (database === undefined || table === undefined) return MIN_TIME_NS;
    return visibleFrom(database, table, this.#clock.nowNs());
  }

  /** Reads the series of one table after another; a query waits only for its own table. */
  startIndexing(): void {
    this.#indexing = this.#index();
  }

  async #index(): Promise<void> {
    const { signal } = this.#closing;
    // The delay rejects when the node closes.
    await this.#clock.sleep(INDEX_DELAY_MS, signal).catch(() => undefined);
    for (const store of this.#stores.values()) {
      if (signal.aborted) return;
      await store.series.whenIndexed()?.catch(this.#onError);
    }
  }

  async stopIndexing(): Promise<void> {
    this.#closing.abort();
    await this.#indexing;
  }

  /** Resolves when no series are being read. */
  async indexingEnded(): Promise<void> {
    for (const store of this.#stores.values()) await store.series.indexingEnded();
  }
}
