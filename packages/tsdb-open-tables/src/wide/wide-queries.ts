import type { Clock } from '@plinth/kernel';
import { CatalogView, type ViewedCatalog } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { beginQueryContext, noteFailure } from '@plinth/tsdb-engine/query/begin-query-context.js';
import type { LoggedQuery } from '@plinth/tsdb-engine/query/log/logged-query.js';
import type { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import { QuerySlots } from '@plinth/tsdb-engine/query/slots/query-slots.js';
import { orAborted, untilAborted } from '@plinth/tsdb-engine/query/slots/until-aborted.js';
import type { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import { visibleFrom } from '@plinth/tsdb-engine/table/visible-from.js';
import type { ResultChunk, ResultStream } from '@plinth/tsdb-model/columns/result.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { QueryRequest } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { VirtualTables } from '@plinth/tsdb-model/query/planned-query.js';
import type { WidePlan, WidePlanner, WideTable } from '@plinth/tsdb-model/query/wide-plan.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { isoOf } from '@plinth/tsdb-model/time/calendar.js';
import { publishableTables, sameInLowerCase } from '../namespaces.js';
import type { OpenTables } from '../open-tables.js';
import { staleReason } from './stale-reason.js';
import { toChunk } from './trino-chunk.js';
import type { TrinoClient } from './trino-client.js';
import { wideTable } from './wide-tables.js';

/** Concurrent wide queries; further ones wait. */
const MAX_CONCURRENT = 32;

export interface WideQueriesDeps {
  readonly catalog: ViewedCatalog;
  readonly storeOf: (schema: TableSchema) => Pick<TableStore, 'segments'>;
  readonly planner: WidePlanner;
  readonly virtualTables: (database: DatabaseSchema, access: DatabaseAccess) => VirtualTables;
  readonly openTables: OpenTables;
  readonly queryLog: QueryLog;
  readonly clock: Clock;
  /** Absent if `query.wide_url` is not set. */
  readonly trino: { readonly client: TrinoClient; readonly catalog: string } | undefined;
  /** Size of segments above which queries run on Trino; 0 only on request. */
  readonly wideBytes: number;
  /** 0 disables the limit. */
  readonly queryTimeoutMs: number;
}

export interface WideResult extends ResultStream {
  /** RFC 3339: all rows acknowledged earlier are in the result. */
  readonly freshThrough: string;
}

/** A statement that is ready to run. Call `release` exactly once. */
interface Prepared {
  readonly statement: string;
  readonly plan: WidePlan;
  readonly logged: LoggedQuery;
  readonly signal: AbortSignal;
  readonly nowNs: bigint;
  release(): void;
}

/** Runs SQL queries on Trino, over the published tables of a database. */
export class WideQueries {
  readonly #deps: WideQueriesDeps;
  readonly #slots = new QuerySlots(MAX_CONCURRENT);

  constructor(deps: WideQueriesDeps) {
    this.#deps = deps;
  }

  /** Whether queries without an explicit engine may run on Trino. */
  get isAutomatic(): boolean {
    return this.#deps.trino !== undefined && this.#deps.wideBytes > 0;
  }

  /**
   * Whether a query without an explicit engine runs on Trino: its segments exceed
   * `query.wide_bytes`, and Trino can run it.
   */
  async prefers(request: QueryRequest): Promise<boolean> {
    const { wideBytes, openTables } = this.#deps;
    if (!this.isAutomatic || !openTables.isPublished(request.database)) return false;
    try {
      const database = this.#databaseOf(request);
      const nowNs = this.#deps.clock.nowNs();
      const plan = await this.#plan(request, database, nowNs);
      if (this.#sizeOf(plan) <= BigInt(wideBytes)) return false;
      plan.print(this.#tablesOf(database, nowNs));
      return true;
    } catch (error) {
      if (tsdbError.is(error)) return false; // the local query reports errors
      throw error;
    }
  }

  async query(request: QueryRequest): Promise<WideResult> {
    const prepared = await this.#prepare(request);
    const { plan, signal, nowNs } = prepared;
    // A generator that is never started never runs its `finally`, so release here.
    const release = (): void => prepared.release();
    signal.addEventListener('abort', release, { once: true });
    const onBegun = () => signal.removeEventListener('abort', release);
    return {
      columns: plan.columns,
      tableName: plan.tableName,
      freshThrough: isoOf(nowNs),
      chunks: untilAborted(this.#chunks(prepared, onBegun), signal),
    };
  }

  async close(): Promise<void> {
    await this.#deps.trino?.client.close();
  }

  async #prepare(request: QueryRequest): Promise<Prepared> {
    const database = this.#databaseOf(request);
    const { language, text, access } = request;
    const { owner, principal } = access;
    const { queryLog, queryTimeoutMs: limitMs, clock } = this.#deps;
    const logged = queryLog.begin({
      ...{ language, text, owner, principal, database: request.database },
    });
    const queryContext = beginQueryContext(logged, { client: request, owner, limitMs });
    const { signal } = queryContext;
    let release = (): void => queryContext.end();
    try {
      const slot = await this.#slots.acquire(queryContext);
      release = () => {
        queryContext.end();
        slot.release();
      };
      logged.slotAcquired();
      const nowNs = clock.nowNs();
      const plan = await this.#plan(request, database, nowNs);
      logged.planned();
      plan.print(this.#tablesOf(database, nowNs)); // rejects a statement before its tables are flushed
      await this.#publish(plan, nowNs, signal);
      logged.prepared([]);
      // Only now it is known which tables have a file, and databases may have been created.
      const statement = plan.print(this.#tablesOf(database, nowNs));
      return { statement, plan, logged, signal, nowNs, release };
    } catch (error) {
      release();
      throw noteFailure(logged, error);
    }
  }

  async *#chunks(
    { statement, plan, logged, signal, release }: Prepared,
    onBegun: () => void,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    onBegun();
    const { columns } = plan;
    try {
      const pages = this.#trino.client.run(statement, { columnCount: columns.length, signal });
      for await (const rows of pages) {
        logged.returned(rows.length);
        logged.chunkReturned();
        yield toChunk(columns, rows);
        logged.chunkRequested();
      }
      logged.ended('success');
    } catch (error) {
      throw noteFailure(logged, error);
    } finally {
      // The reader stopped before the last row.
      logged.ended('cancel');
      release();
    }
  }

  get #trino(): NonNullable<WideQueriesDeps['trino']> {
    const { trino } = this.#deps;
    if (trino !== undefined) return trino;
    throw tsdbError(
      'parameter_invalid',
      'engine=trino needs a Trino coordinator; set query.wide_url to its address, such as http://trino:8080',
    );
  }

  /** Returns the database if the caller may read it. Throws like the local query. */
  #databaseOf({ database: name, access }: QueryRequest): DatabaseSchema {
    const database = new CatalogView(this.#deps.catalog, access).database(name);
    if (database === undefined) throw tsdbError('database_not_found', { database: name });
    return database;
  }

  async #plan(request: QueryRequest, database: DatabaseSchema, nowNs: bigint): Promise<WidePlan> {
    const virtualTables = this.#deps.virtualTables(database, request.access);
    const { text, params } = request;
    return await this.#deps.planner(text, { database, nowNs, params, virtualTables });
  }

  #tablesOf(database: DatabaseSchema, nowNs: bigint): (schema: TableSchema) => WideTable {
    const { openTables } = this.#deps;
    const { catalog } = this.#trino;
    const namespace = this.#namespaceOf(database);
    const published = openTables.databases().find(({ name }) => name === database.name);
    const tableNames = published === undefined ? [] : publishableTables(published);
    return (schema) =>
      wideTable(schema, {
        ...{ catalog, namespace, tableNames: tableNames.map(({ name }) => name) },
        hasSnapshot: openTables.find(schema.id)?.history !== undefined,
        visibleFromNs: visibleFrom(database, schema, nowNs),
      });
  }

  /** Returns the name of the namespace for Trino. */
  #namespaceOf({ name: database }: DatabaseSchema): string {
    const { openTables } = this.#deps;
    const refuse = (why: string): never => {
      throw tsdbError('parameter_invalid', `Trino cannot read database ${database}: ${why}`);
    };
    const all = openTables.namespaces();
    const name = all.find((each) => each.database === database && each.tree === 'jvm')?.name;
    if (name === undefined)
      return refuse(
        openTables.isPublished(database)
          ? `the name ${database}__jvm is in use; rename that database`
          : 'it is not published; add it to open_tables.databases',
      );
    if (database.includes('/'))
      return refuse('a retention policy is not verified for trino; omit engine=trino');
    // Trino would read one of them, possibly without permission of the caller.
    const other = sameInLowerCase(
      name,
      all.map((each) => each.name),
    );
    if (other === undefined) return name;
    return refuse(`the namespaces ${name} and ${other} differ only in case; publish only one`);
  }

  /** Flushes and publishes the tables of a statement, so that all rows until `nowNs` are visible. */
  async #publish({ scans }: WidePlan, nowNs: bigint, signal: AbortSignal): Promise<void> {
    const { openTables } = this.#deps;
    const tables = [...new Set(scans.map(({ table }) => table))];
    const stale = tables.filter((table) => !openTables.isCurrent(table));
    if (stale.length === 0) return;
    await orAborted(this.#trino.client.check(), signal);
    await orAborted(openTables.publishNow(stale), signal);
    for (const table of stale) {
      const isCurrent = openTables.isCurrent(table);
      const reason = staleReason(openTables.find(table.id), { isCurrent, nowNs });
      if (reason !== undefined)
        throw tsdbError('table_not_published', { table: table.name, reason });
    }
  }

  /** Returns the total size of the segments in the time ranges of a statement. */
  #sizeOf({ scans }: WidePlan): bigint {
    let sizeBytes = 0;
    for (const { table, minTimeNs, maxTimeNs } of scans) {
      for (const { segment } of this.#deps.storeOf(table).segments)
        if (segment.minTime <= maxTimeNs && segment.maxTime >= minTimeNs)
          sizeBytes += segment.sizeBytes;
    }
    return BigInt(sizeBytes);
  }
}
