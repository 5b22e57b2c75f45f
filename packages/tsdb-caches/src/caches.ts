import type { Clock } from '@plinth/kernel';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import { KeyedQueue } from '@plinth/tsdb-catalog/keyed-queue.js';
import type {
  Replacement,
  ReplacementFollower,
} from '@plinth/tsdb-catalog/schema/catalog-replacements.js';
import type { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import { visibleFrom } from '@plinth/tsdb-engine/table/visible-from.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tableNotKnown, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue, ScannedTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { noSuchCache, readCacheCall } from './cache-call.js';
import {
  type CacheDefinition,
  type DistinctCacheDefinition,
  definitionFor,
  type LastCacheDefinition,
} from './cache-definitions.js';
import type { CacheRecords } from './cache-records.js';
import { CacheRows } from './cache-rows.js';
import { cacheTable } from './cache-source.js';
import {
  defineDistinctCache,
  defineLastCache,
  invalidConfiguration,
  type NewDistinctCache,
  type NewLastCache,
} from './define-cache.js';
import { LiveCache } from './live-cache.js';

/** Maximum number of caches of one kind per table. */
const MAX_CACHES_PER_TABLE = 100;
/** Share of its entries that a cache evicts at a time when memory is full. */
const EVICTED_SHARE = 0.2;

export interface CacheDeps {
  readonly catalog: Catalog;
  readonly records: CacheRecords;
  readonly duckDb: DuckDbHost;
  readonly clock: Clock;
  readonly settings: {
    readonly lastEvictionIntervalMs: number;
    readonly distinctEvictionIntervalMs: number;
    readonly memoryBytes: number;
  };
  readonly onFailed: (error: unknown) => void;
}

/** Totals over all caches of one kind. */
export interface CacheState {
  readonly cacheCount: number;
  readonly entryCount: number;
  readonly sizeBytes: number;
  readonly evictedCount: number;
}

/** Last-value and distinct-value caches. Source: tsdb-http, "Distinct value cache" and "Last value cache". */
export class Caches {
  readonly #deps: CacheDeps;
  readonly #rows: CacheRows;
  readonly #byTable = new Map<number, LiveCache[]>();
  readonly #changes = new KeyedQueue();
  readonly #lastIds = { last: -1, distinct: -1 };
  readonly #evicted = { last: 0, distinct: 0 };
  #storeOf: ((schema: TableSchema) => TableStore) | undefined;
  #tickers: readonly Disposable[] = [];

  constructor(deps: CacheDeps) {
    this.#deps = deps;
    this.#rows = new CacheRows(deps.duckDb, deps.onFailed);
  }

  /**
   * Starts the stored caches. They fill in the background, and queries wait until their cache is
   * filled.
   */
  async open(storeOf: (schema: TableSchema) => TableStore): Promise<void> {
    this.#storeOf = storeOf;
    const { catalog, records, clock, settings } = this.#deps;
    const gone = new Set<number>();
    for (const definition of await records.load()) {
      this.#lastIds[definition.kind] = Math.max(this.#lastIds[definition.kind], definition.id);
      const schema = catalog.tableById(definition.tableId);
      if (schema === undefined) gone.add(definition.tableId);
      else this.#start(definition, schema);
    }
    if (gone.size > 0) await records.removeOfTables([...gone]);
    this.#tickers = [
      clock.every(settings.lastEvictionIntervalMs, () => this.#evict('last')),
      clock.every(settings.distinctEvictionIntervalMs, () => this.#evict('distinct')),
    ];
  }

  close(): void {
    for (const ticker of this.#tickers) ticker[Symbol.dispose]();
    for (const caches of this.#byTable.values()) for (const cache of caches) cache.close();
    this.#byTable.clear();
  }

  async createLast(newCache: NewLastCache): Promise<LastCacheDefinition> {
    const schema = this.#find(newCache);
    return await this.#add(schema, defineLastCache(schema, newCache));
  }

  async createDistinct(newCache: NewDistinctCache): Promise<DistinctCacheDefinition> {
    const schema = this.#find(newCache);
    return await this.#add(schema, defineDistinctCache(schema, newCache));
  }

  async delete(target: {
    readonly kind: CacheDefinition['kind'];
    readonly database: string;
    readonly table: string;
    readonly name: string;
  }): Promise<void> {
    const schema = this.#find(target);
    await this.#changes.run(String(schema.id), async () => {
      const found = this.#named(schema.id, target);
      if (found === undefined) throw tsdbError('resource_not_found', { resource: target.name });
      await this.#deps.records.remove(found.definition);
      found.close();
      const rest = this.#cachesOf(schema.id).filter((cache) => cache !== found);
      this.#byTable.set(schema.id, rest);
    });
  }

  /** Closes and removes the caches of deleted tables. */
  onTablesDeleted(tableIds: readonly number[]): void {
    const withCaches = tableIds.filter((id) => this.#cachesOf(id).length > 0);
    for (const id of withCaches) {
      for (const cache of this.#cachesOf(id)) cache.close();
      this.#byTable.delete(id);
    }
    if (withCaches.length === 0) return;
    this.#deps.records.removeOfTables(withCaches).catch(this.#deps.onFailed);
  }

  /** Caches follow a table that is replaced, unless one of their columns has another type. */
  get replacementFollower(): ReplacementFollower {
    const split = (replacement: Replacement) => {
      const all = this.#cachesOf(replacement.before.id).map(({ definition }) => definition);
      const next = all.map((definition) => definitionFor(definition, replacement));
      const retained = next.filter((definition) => definition !== undefined);
      return { retained, dropped: all.filter((_, i) => next[i] === undefined) };
    };
    return {
      write: (tx, replacement) => this.#deps.records.replace(tx, split(replacement)),
      applyCommitted: (replacement) => {
        const { before, after } = replacement;
        const { retained } = split(replacement);
        for (const cache of this.#cachesOf(before.id)) cache.close();
        this.#byTable.delete(before.id);
        for (const definition of retained) this.#start(definition, after);
      },
    };
  }

  /** Rebuilds the caches of tables in which rows were deleted. */
  rowsDeleted(tableIds: readonly number[]): void {
    for (const id of tableIds) {
      const schema = this.#deps.catalog.tableById(id);
      const caches = this.#cachesOf(id);
      if (schema === undefined || caches.length === 0) continue;
      this.#byTable.delete(id);
      for (const cache of caches) {
        cache.close();
        this.#start(cache.definition, schema);
      }
    }
  }

  /** Returns the definitions of one kind in a database, by table and name. */
  definitions<K extends CacheDefinition['kind']>(
    database: DatabaseSchema,
    kind: K,
  ): readonly { table: TableSchema; definition: Extract<CacheDefinition, { kind: K }> }[] {
    return [...database.tables.values()].flatMap((table) =>
      this.#cachesOf(table.id)
        .map(({ definition }) => definition)
        .filter(
          (definition): definition is Extract<CacheDefinition, { kind: K }> =>
            definition.kind === kind,
        )
        .map((definition) => ({ table, definition })),
    );
  }

  countOf(tableId: number, kind: CacheDefinition['kind']): number {
    return this.#cachesOf(tableId).filter(({ definition }) => definition.kind === kind).length;
  }

  /** Number of caches created so far, computed from the highest known ids. */
  get createdCount(): number {
    return this.#lastIds.last + this.#lastIds.distinct + 2;
  }

  state(kind: CacheDefinition['kind']): CacheState {
    const all = this.#all(kind);
    return {
      cacheCount: all.length,
      entryCount: all.reduce((sum, { content }) => sum + content.cache.entryCount, 0),
      sizeBytes: all.reduce((sum, { content }) => sum + content.cache.sizeBytes, 0),
      evictedCount: this.#evicted[kind],
    };
  }

  /**
   * Returns the cache that `last_cache('table'[, 'cache'])` or `distinct_cache(...)` refers to;
   * `undefined` for other functions. Throws `plan_error`.
   */
  tableFunction(
    database: DatabaseSchema,
    name: string,
    args: readonly ParameterValue[],
  ): ScannedTable | undefined {
    const call = readCacheCall(database, name, args);
    if (call === undefined) return undefined;
    const { kind, schema, cache } = call;
    const found = this.#cachesOf(schema.id).filter(
      ({ definition }) =>
        definition.kind === kind && (cache ?? definition.name) === definition.name,
    );
    const [only] = found;
    if (only === undefined || found.length > 1) {
      throw noSuchCache(kind);
    }
    return cacheTable(only, this.#rows, this.#deps.clock);
  }

  async #add<D extends CacheDefinition>(
    schema: TableSchema,
    newCache: Omit<D, 'id'> & Pick<D, 'kind'>,
  ): Promise<D> {
    if (newCache.name === '') throw invalidConfiguration('cache name cannot be empty');
    // Creations for one table are serialized, so that a name cannot be used twice.
    return await this.#changes.run(String(schema.id), async () => {
      if (this.#named(schema.id, newCache) !== undefined) {
        throw tsdbError('resource_exists', { resource: newCache.name });
      }
      if (this.countOf(schema.id, newCache.kind) >= MAX_CACHES_PER_TABLE) {
        throw invalidConfiguration(
          `a table can have at most ${MAX_CACHES_PER_TABLE} caches of each kind; delete one first`,
        );
      }
      const definition = { ...newCache, id: ++this.#lastIds[newCache.kind] } as unknown as D; // complete with its id
      await this.#deps.records.add(definition);
      if (this.#deps.catalog.tableById(schema.id) === undefined) {
        // The table has been deleted in the meantime.
        await this.#deps.records.remove(definition);
        throw tsdbError('resource_not_found', { resource: schema.name });
      }
      this.#start(definition, schema);
      return definition;
    });
  }

  #start(definition: CacheDefinition, schema: TableSchema): void {
    const { duckDb, clock, catalog } = this.#deps;
    const store = this.#storeOf?.(schema);
    if (store === undefined) return;
    const visibleFromNs = (): bigint => {
      const table = catalog.tableById(schema.id) ?? schema;
      const database = catalog.databaseById(schema.databaseId) ?? { retentionNs: undefined };
      return visibleFrom(database, table, clock.nowNs());
    };
    const cache = new LiveCache(definition, { store, duckDb, clock, visibleFromNs });
    cache.filled.catch((error: unknown) => {
      if (this.#cachesOf(schema.id).includes(cache)) this.#deps.onFailed(error);
    });
    this.#byTable.set(schema.id, [...this.#cachesOf(schema.id), cache]);
  }

  #find(target: { readonly database: string; readonly table: string }): TableSchema {
    const { catalog } = this.#deps;
    if (target.database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    const database = catalog.database(target.database);
    if (database === undefined)
      throw tsdbError('database_not_known', { database: target.database });
    const schema = database.tables.get(target.table);
    if (schema === undefined) throw tableNotKnown(database, target.table);
    return schema;
  }

  #named(
    tableId: number,
    { kind, name }: Pick<CacheDefinition, 'kind' | 'name'>,
  ): LiveCache | undefined {
    return this.#cachesOf(tableId).find(
      ({ definition }) => definition.kind === kind && definition.name === name,
    );
  }

  #cachesOf(tableId: number): readonly LiveCache[] {
    return this.#byTable.get(tableId) ?? [];
  }

  #all(kind: CacheDefinition['kind']): readonly LiveCache[] {
    return [...this.#byTable.values()].flat().filter(({ definition }) => definition.kind === kind);
  }

  #evict(kind: CacheDefinition['kind']): void {
    const { clock } = this.#deps;
    for (const { content } of this.#all(kind)) {
      this.#evicted[kind] +=
        content.kind === 'last'
          ? content.cache.evictExpired(clock.nowMs())
          : content.cache.evict(clock.nowNs());
    }
    this.#makeRoom();
  }

  /** Evicts the oldest values of the largest cache until all caches fit into `memoryBytes`. */
  #makeRoom(): void {
    const all = [...this.#byTable.values()].flat();
    const usedBytes = (): number =>
      all.reduce((sum, { content }) => sum + content.cache.usedBytes, 0);
    while (usedBytes() > this.#deps.settings.memoryBytes) {
      const [largest] = all.toSorted(
        (a, b) => b.content.cache.usedBytes - a.content.cache.usedBytes,
      );
      const removed = largest?.content.cache.evictOldest(EVICTED_SHARE) ?? 0;
      if (largest === undefined || removed === 0) return;
      this.#evicted[largest.definition.kind] += removed;
    }
  }
}
