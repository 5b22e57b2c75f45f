import {
  type Clock,
  type EventLoopYielder,
  Exclusive,
  type Leases,
  messageOf,
  objectError,
  StoreOutage,
} from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { PublishedTables } from '@plinth/tsdb-storage/segments/published-tables.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { PublishedBucket } from './bucket/published-bucket.js';
import { type Namespace, namespacesOf, publishableTables } from './namespaces.js';
import { historyOf } from './publish/history.js';
import type { MetadataTrees } from './publish/metadata-trees.js';
import type { PublishCounts } from './publish/publish-counts.js';
import { PublishedTable } from './publish/published-table.js';
import { RequestedPasses } from './publish/requested-passes.js';
import { TablePublisher } from './publish/table-publisher.js';
import type { OpenTablesSettings } from './settings.js';

/** Maximum number of times that a request tries to carry out deletions before it publishes. */
const MERGE_ATTEMPTS = 3;
/** Upper bound of the metadata size per file. */
const BYTES_PER_FILE = 1024;
/** A time span that no file overlaps: only pending deletions of the table are carried out. */
const NO_SPAN = { minTimeNs: MAX_TIME_NS, maxTimeNs: MIN_TIME_NS };

export interface OpenTablesDeps {
  readonly settings: OpenTablesSettings;
  readonly catalog: RelationalCatalog;
  readonly engine: TsdbEngine;
  /** In the data folder or in `bucket`. */
  readonly trees: MetadataTrees;
  /** Trees in the data folder, which are removed if tables are published in a bucket. */
  readonly localTrees: MetadataTrees;
  readonly bucket: PublishedBucket | undefined;
  readonly counts: PublishCounts;
  readonly records: PublishedTables;
  readonly files: Pick<SegmentFiles, 'remove'>;
  readonly yielder: EventLoopYielder;
  readonly hasSpaceFor: (sizeBytes: number) => boolean;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Publishes the tables of the configured databases in an open format, and lists what is published. */
export class OpenTables {
  readonly counts: PublishCounts;
  readonly #deps: OpenTablesDeps;
  readonly #databases: ReadonlySet<string>;
  readonly #publisher: TablePublisher;
  /** By id: tables that are or were published. */
  readonly #tables = new Map<number, PublishedTable>();
  readonly #passes = new Exclusive();
  readonly #requests = new RequestedPasses((tables) => this.#flushAndPublish(tables));
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isClosing = false;
  #hasCleaned = false;

  static async open(deps: OpenTablesDeps): Promise<OpenTables> {
    const tables = new OpenTables(deps);
    for (const record of await deps.records.load()) {
      const uuid = deps.catalog.keptTableById(record.tableId)?.uuid;
      if (uuid === undefined) continue; // its objects are removed by the first pass
      const table = new PublishedTable({ tableId: record.tableId, uuid });
      // Readers find the last version immediately; the first pass verifies its objects.
      table.use(record, historyOf(record.history, deps.trees.root));
      if (table.history !== undefined) table.state = { kind: 'published' };
      tables.#tables.set(record.tableId, table);
    }
    return tables;
  }

  private constructor(deps: OpenTablesDeps) {
    const { catalog, engine, settings } = deps;
    this.#deps = deps;
    this.counts = deps.counts;
    this.#databases = new Set(settings.databases);
    this.#publisher = new TablePublisher({
      ...deps,
      uploads: deps.bucket?.uploads,
      segmentCommits: engine.background.segmentCommits,
      keepMs: settings.keep_ms,
      schemaOf: (tableId) => catalog.tableById(tableId),
    });
  }

  /** Does nothing if no database is or was published. */
  start(): void {
    const { clock, settings, engine, catalog, records, bucket } = this.#deps;
    const isUsed = this.#databases.size > 0 || bucket !== undefined;
    if (!isUsed && this.#tables.size === 0 && !records.hasFiles) return;
    this.#ticker ??= clock.every(settings.interval_ms, () => this.publishSoon());
    if (this.#databases.size > 0) {
      engine.background.flusher.publishedTables.policy = {
        ageMs: settings.flush_age_ms,
        includes: (tableId) => this.#isWanted(catalog.tableById(tableId)),
      };
    }
    this.publishSoon();
  }

  /** Starts a pass over all tables in the background, unless one is running. */
  publishSoon(): void {
    if (this.#isClosing) return;
    this.#running ??= this.#passes
      .run(() => this.#pass())
      .catch(this.#deps.onError)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when no pass is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Flushes and publishes tables. Resolves when this is done. */
  publishNow(tables: readonly TableSchema[]): Promise<void> {
    return this.#requests.request(tables);
  }

  async #flushAndPublish(tables: readonly TableSchema[]): Promise<void> {
    const { engine } = this.#deps;
    await engine.background.flusher.flush('published');
    await this.#passes.run(async () => {
      for (const schema of tables) {
        const store = engine.tableStore(schema);
        // A running merge of another table may have passed this one already.
        for (let attempt = 0; attempt < MERGE_ATTEMPTS && isMergeDue(store); attempt++)
          await engine.background.compactor.compactWhenDue();
      }
      await this.#publishAll(tables);
    });
  }

  /** Whether readers see all acknowledged rows of a table, and no deleted ones. */
  isCurrent(schema: TableSchema): boolean {
    const store = this.#deps.engine.tableStore(schema);
    if (store.minBufferedSeq !== undefined || isMergeDue(store)) return false;
    const { history, seen, state } = this.#tables.get(schema.id) ?? {};
    if (history === undefined) return store.segments.length === 0;
    const isSame = seen?.segments === store.segments && seen.schema === schema;
    return isSame && state?.kind === 'published';
  }

  isPublished(database: string): boolean {
    return this.#databases.has(database);
  }

  /** Returns the published databases that exist, by name. */
  databases(): readonly DatabaseSchema[] {
    return this.#deps.catalog.databases().filter(({ name }) => this.#databases.has(name));
  }

  namespaces(): readonly Namespace[] {
    const all = this.#deps.catalog.databases().map(({ name }) => name);
    return namespacesOf(
      this.databases().map(({ name }) => name),
      all,
    );
  }

  /** Returns the publication of a table; `undefined` before the first pass reaches it. */
  find(tableId: number): PublishedTable | undefined {
    return this.#tables.get(tableId);
  }

  /** Returns the tables with a readable snapshot, by name. */
  tablesOf(database: string): readonly TableSchema[] {
    const found = this.#deps.catalog.database(database);
    if (found === undefined || !this.#databases.has(database)) return [];
    return publishableTables(found).filter(({ id }) => this.#tables.get(id)?.history !== undefined);
  }

  /** Returns the newest metadata file; `undefined` if no snapshot is readable. */
  async metadataOf(schema: TableSchema, tree: Namespace['tree']) {
    for (;;) {
      const table = this.#tables.get(schema.id);
      if (table?.history === undefined) return undefined;
      const { version } = table;
      try {
        return await this.#deps.trees.read(table.uuid, tree, version);
      } catch (error) {
        if (!objectError.is(error, 'object_not_found')) throw error;
        // A newer version may have replaced it in the meantime.
        if (table.version === version) return undefined;
      }
    }
  }

  locationOf(schema: TableSchema, tree: Namespace['tree']): string {
    return this.#deps.trees.locationOf(schema.uuid, tree);
  }

  /** Returns the properties that catalog readers need to find the bucket. */
  get readerProperties(): Readonly<Record<string, string>> {
    return this.#deps.bucket?.store.readerProperties ?? {};
  }

  /** Called when the data of tables was removed permanently. */
  onTablesRemoved(tableIds: readonly number[]): void {
    if (tableIds.some((id) => this.#tables.has(id))) this.publishSoon();
  }

  /** Returns the number of tables with a readable snapshot. */
  get publishedCount(): number {
    return [...this.#tables.values()].filter(({ history }) => history !== undefined).length;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    this.#deps.bucket?.store.close();
    await this.#running;
  }

  #isWanted(schema: TableSchema | undefined): boolean {
    const database = schema && this.#deps.catalog.databaseById(schema.databaseId);
    return database !== undefined && this.#databases.has(database.name);
  }

  async #pass(): Promise<void> {
    await this.#deps.leases.withLease('tsdb.publish', async () => {
      try {
        const tables = this.databases().flatMap(publishableTables);
        if (!(await this.#publishAll(tables)) || this.#isClosing) return;
        if (!this.#hasCleaned) await this.#removeForeign();
        this.#hasCleaned = true;
        await this.#withdrawOthers();
        await this.#deps.bucket?.uploads.removeExpired(this.#deps.clock.nowMs());
      } catch (error) {
        const { bucket } = this.#deps;
        if (bucket === undefined || !(error instanceof StoreOutage)) throw error;
        if (!this.#isClosing) bucket.noteOutage(error);
      } finally {
        await this.#removeExpiredFiles();
      }
    });
  }

  /** Returns false if the bucket cannot be used now; all further tables then keep their last version. */
  async #publishAll(tables: readonly TableSchema[]): Promise<boolean> {
    const { bucket } = this.#deps;
    let failure: Error | undefined = await this.#prepareBucket();
    for (const schema of tables) {
      if (this.#isClosing) return false;
      const table = this.#tableOf(schema);
      failure ??= await this.#publish(table, schema);
      if (failure !== undefined) table.state = { kind: 'waiting', reason: failure.message };
    }
    if (failure === undefined) bucket?.noteSuccess();
    else if (!this.#isClosing) bucket?.noteOutage(failure);
    return failure === undefined;
  }

  /** Returns why the bucket cannot be used. */
  async #prepareBucket(): Promise<Error | undefined> {
    try {
      await this.#deps.bucket?.prepare();
      return undefined;
    } catch (error) {
      this.counts.failed();
      return error instanceof Error ? error : new Error(messageOf(error));
    }
  }

  #tableOf(schema: TableSchema): PublishedTable {
    let table = this.#tables.get(schema.id);
    if (table === undefined) {
      table = new PublishedTable({ tableId: schema.id, uuid: schema.uuid });
      this.#tables.set(schema.id, table);
    }
    return table;
  }

  /** Records the outcome in the table's state. Returns a bucket outage, which affects all tables. */
  async #publish(table: PublishedTable, schema: TableSchema): Promise<StoreOutage | undefined> {
    const { engine, onError, bucket } = this.#deps;
    const store = engine.tableStore(schema);
    const sizeBytes = bucket === undefined ? store.segments.length * BYTES_PER_FILE : 0;
    if (!this.#deps.hasSpaceFor(sizeBytes)) {
      table.state = { kind: 'waiting', reason: 'the disk has too little free space' };
      return undefined;
    }
    const startMs = this.#deps.clock.monotonicMs();
    const { version } = table;
    try {
      await this.#publisher.publish(table, store);
      if (table.waitingSinceMs !== undefined) engine.storage.compactSoon(schema, NO_SPAN);
      if (table.version !== version)
        this.counts.published(this.#deps.clock.monotonicMs() - startMs);
    } catch (error) {
      this.counts.failed();
      if (bucket !== undefined && error instanceof StoreOutage) return error;
      table.state = { kind: 'failed', reason: messageOf(error) };
      onError(error);
    }
    return undefined;
  }

  /**
   * Withdraws tables of databases that were removed from the setting, and forgets tables that were
   * removed permanently.
   */
  async #withdrawOthers(): Promise<void> {
    const { catalog, trees, onError, bucket } = this.#deps;
    for (const table of this.#tables.values()) {
      const active = catalog.tableById(table.tableId);
      if (active !== undefined && this.#isWanted(active)) continue;
      try {
        if (catalog.keptTableById(table.tableId) === undefined) {
          await trees.remove(await trees.list(table.uuid));
          this.#tables.delete(table.tableId);
        } else if (table.state.kind !== 'withdrawn') {
          await this.#publisher.withdrawStored(table, 'the table is not published');
        }
      } catch (error) {
        if (bucket !== undefined && error instanceof StoreOutage) throw error;
        onError(error);
      }
    }
  }

  /** Removes metadata of tables that no longer exist, for example after a crash. */
  async #removeForeign(): Promise<void> {
    const { trees, localTrees, bucket } = this.#deps;
    const own = new Set([...this.#tables.values()].map(({ uuid }) => uuid));
    for (const [uuid, names] of await trees.listAll()) {
      if (!own.has(uuid)) await trees.remove(names);
    }
    if (bucket === undefined) return;
    for (const names of (await localTrees.listAll()).values()) await localTrees.remove(names);
  }

  async #removeExpiredFiles(): Promise<void> {
    const { records, files, clock } = this.#deps;
    const names = await records.expired(clock.nowMs());
    for (const name of names) await files.remove(name);
    await records.forget(names);
  }
}

/** Whether deleted rows or earlier values of points are still in files that readers see. */
const isMergeDue = ({
  tombstones,
  segments,
}: Pick<TableStore, 'tombstones' | 'segments'>): boolean =>
  tombstones.count > 0 || segments.some(({ segment }) => segment.kind === 'overlay');
