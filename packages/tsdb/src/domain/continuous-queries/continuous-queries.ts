import { type Clock, isDomainError, type Logger, repeatJob } from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { ContinuousQueryDirectory } from '@plinth/tsdb-influxql/continuous/continuous-query-directory.js';
import { databaseOfPolicy, INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { FailureReports } from '@plinth/tsdb-plugins/domain/runs/failure-reports.js';
import { EventQueue } from '@plinth/tsdb-plugins/domain/triggers/event-queue.js';
import type {
  ContinuousQueryRecords,
  QueryDefinition,
  StoredQuery,
} from './continuous-query-records.js';
import { QueryRunner, type QueryState, type QueryWork, RunTimedOut } from './query-runner.js';

export const MAX_CONTINUOUS_QUERIES = 1000;
/** Maximum length of a stored text. */
const MAX_TEXT_CHARS = 64 * 1024;
/** Additional queries wait, so that client queries keep most query slots. */
const MAX_CONCURRENT_RUNS = 4;
/** Interval at which queries of purged databases are deleted. */
const RECONCILE_INTERVAL_MS = 60_000;

interface ContinuousQueriesDeps {
  readonly catalog: RelationalCatalog;
  readonly records: ContinuousQueryRecords;
  /** Prepares a definition. Throws domain errors and `ParseError` if it is invalid. */
  readonly prepare: (definition: QueryDefinition, database: DatabaseSchema) => QueryWork;
  /** Checks a new definition against the data. Throws domain errors. */
  readonly check: (definition: QueryDefinition, database: DatabaseSchema) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A query with its state, for lists. */
export interface ListedQuery {
  readonly database: string;
  readonly name: string;
  readonly definition: QueryDefinition;
  readonly state: QueryState | undefined;
  /** See `QueryRun`. */
  readonly positionNs: bigint | undefined;
  /** Error of the last run. */
  readonly lastError: string | undefined;
  readonly target: string | undefined;
  readonly everyNs: bigint | undefined;
  readonly forNs: bigint | undefined;
}

interface Entry {
  /** The query with the position of the last stored run. */
  query: StoredQuery;
  work: QueryWork | undefined;
  runner: QueryRunner | undefined;
  /** Why a stored query cannot run. */
  fault?: unknown;
}

/**
 * The continuous queries of the server: their records, and a runner for each. Queries of a deleted
 * database stop; they continue if it is restored. Source: query-languages, "Continuous queries".
 */
export class ContinuousQueries implements ContinuousQueryDirectory {
  readonly counts = { runCount: 0, failureCount: 0 };
  readonly #deps: ContinuousQueriesDeps;
  readonly #entries = new Map<number, Entry>();
  readonly #queued = new Set<QueryRunner>();
  readonly #queue = new EventQueue<QueryRunner>({
    run: (runner) => this.#runQueued(runner),
    concurrency: MAX_CONCURRENT_RUNS,
    maxWaiting: MAX_CONTINUOUS_QUERIES,
  });
  readonly #failures: FailureReports;
  #changes: Promise<unknown> = Promise.resolve();
  /** Resolves when no backup copies the stores. */
  #copying: Promise<unknown> = Promise.resolve();
  #reconciling: Disposable | undefined;
  #isClosed = false;

  constructor(deps: ContinuousQueriesDeps) {
    const { clock, log } = deps;
    this.#deps = deps;
    this.#failures = new FailureReports({
      clock,
      report: async (failure) => log.warn(failure, 'continuous query failed'),
      onLost: () => undefined,
    });
  }

  /** Loads the records and starts the queries. */
  async open(): Promise<void> {
    const { clock, log, records } = this.#deps;
    for (const query of await records.load()) this.#add(query);
    this.databasesChanged();
    const job = { clock, log, name: 'continuous queries', intervalMs: RECONCILE_INTERVAL_MS };
    this.#reconciling = repeatJob(job, () => this.#removeOrphaned());
  }

  /** Returns the InfluxQL queries. */
  list(): { readonly database: string; readonly name: string; readonly text: string }[] {
    return this.all().flatMap(({ database, name, definition }) =>
      definition.language === 'influxql' ? [{ database, name, text: definition.text }] : [],
    );
  }

  /** Returns the queries of both languages, in order of creation. */
  all(): ListedQuery[] {
    return [...this.#entries.values()].flatMap((entry) => {
      const database = this.#deps.catalog.databaseById(entry.query.databaseId)?.name;
      return database === undefined ? [] : [listed(entry, database)];
    });
  }

  /** Maximum delay of any query behind its schedule. */
  get lagNs(): bigint {
    const nowNs = this.#deps.clock.nowNs();
    let longestNs = 0n;
    for (const { runner } of this.#entries.values()) {
      const lagNs = runner?.lagNs(nowNs) ?? 0n;
      if (lagNs > longestNs) longestNs = lagNs;
    }
    return longestNs;
  }

  async create(query: {
    readonly database: string;
    readonly name: string;
    readonly text: string;
  }): Promise<void> {
    await this.define(query, { language: 'influxql', text: query.text });
  }

  /** See `ContinuousQueryDirectory.create`. Also throws the errors of `prepare`. */
  async define(
    target: { readonly database: string; readonly name: string },
    definition: QueryDefinition,
  ): Promise<void> {
    await this.#alone(async () => {
      const database = this.#database(target.database, definition.language);
      const known = this.#find(database.id, target.name);
      if (known !== undefined) {
        if (isEqual(known.query.definition, definition)) return;
        throw tsdbError('continuous_query_exists');
      }
      if (this.#entries.size >= MAX_CONTINUOUS_QUERIES) {
        throw tsdbError('continuous_query_limit_reached', { limit: MAX_CONTINUOUS_QUERIES });
      }
      if (definition.text.length > MAX_TEXT_CHARS) {
        const length = `${definition.text.length} characters; the limit is ${MAX_TEXT_CHARS}`;
        throw tsdbError('continuous_query_invalid', `the query has ${length}`);
      }
      this.#deps.prepare(definition, database);
      await this.#deps.check(definition, database);
      const { id: databaseId } = database;
      const { name } = target;
      this.#add(
        await this.#deps.records.add({ databaseId, name, definition, positionNs: undefined }),
      );
      this.databasesChanged();
    });
  }

  /** @returns false if the query does not exist. */
  async drop(database: string, name: string): Promise<boolean> {
    return await this.#alone(async () => {
      const databaseId = this.#deps.catalog.database(database)?.id;
      const entry = databaseId === undefined ? undefined : this.#find(databaseId, name);
      if (entry === undefined) return false;
      await this.#deps.records.remove([entry.query.id]);
      this.#entries.delete(entry.query.id);
      await entry.runner?.stop();
      return true;
    });
  }

  /** Call after a database was deleted or restored: stops or starts its queries. */
  databasesChanged(): void {
    if (this.#isClosed) return;
    for (const entry of this.#entries.values()) {
      const database = this.#deps.catalog.databaseById(entry.query.databaseId);
      if (database === undefined) {
        void entry.runner?.stop();
        entry.runner = undefined;
      } else if (entry.runner === undefined) this.#start(entry, database);
    }
  }

  /**
   * Runs the part of a backup that copies the log and the relational store. No position is stored
   * meanwhile, because its rows may be missing in the copy of the log.
   */
  async duringBackup<T>(copy: () => Promise<T>): Promise<T> {
    const result = copy();
    this.#copying = result.catch(() => undefined);
    return await result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reconciling?.[Symbol.dispose]();
    await this.#changes;
    const stopping = [...this.#entries.values()].map(({ runner }) => runner?.stop());
    await Promise.all([...stopping, this.#queue.close()]);
    this.#failures.close();
  }

  #add(query: StoredQuery): void {
    this.#entries.set(query.id, { query, work: undefined, runner: undefined });
  }

  #start(entry: Entry, database: DatabaseSchema): void {
    const { clock, log, records, prepare } = this.#deps;
    const { id, name, definition } = entry.query;
    const at = { database: database.name, name };
    try {
      entry.work = prepare(definition, database);
    } catch (err) {
      if (entry.fault === undefined) log.error({ err, ...at }, 'continuous query cannot be read');
      entry.fault = err;
      return;
    }
    const runner = new QueryRunner({
      ...{ work: entry.work, positionNs: entry.query.positionNs, clock },
      enqueue: (each) => this.#enqueue(each),
      setPosition: async (positionNs) => {
        await this.#copying;
        if (positionNs !== entry.query.positionNs) await records.setPosition(id, positionNs);
        entry.query = { ...entry.query, positionNs };
      },
      onRun: (error) => this.#onRun(error, at),
      onSkipped: (intervalCount) =>
        log.warn({ ...at, intervalCount }, 'continuous query skips intervals that are too old'),
    });
    entry.runner = runner;
    runner.start();
  }

  #onRun(error: unknown, target: { readonly database: string; readonly name: string }): void {
    this.counts.runCount++;
    if (error === undefined) return;
    this.counts.failureCount++;
    this.#failures.add(`${target.database}.${target.name}: ${messageOf(error)}`);
    const isExpected = isDomainError(error) || error instanceof RunTimedOut;
    if (!isExpected) this.#deps.log.error({ err: error, ...target }, 'continuous query failed');
  }

  #enqueue(runner: QueryRunner): void {
    if (this.#queued.has(runner)) return;
    this.#queued.add(runner);
    if (!this.#queue.push(runner)) this.#queued.delete(runner);
  }

  async #runQueued(runner: QueryRunner): Promise<void> {
    this.#queued.delete(runner); // If the query becomes due after this point, it is queued again.
    await runner.runDue();
  }

  /** Deletes the records of purged databases. */
  async #removeOrphaned(): Promise<void> {
    const { catalog, records } = this.#deps;
    if (this.#entries.size === 0) return;
    await this.#alone(async () => {
      const ids = [...this.#entries.values()]
        .filter(({ query: { databaseId } }) => {
          const database =
            catalog.databaseById(databaseId) ?? catalog.deleted.databaseById(databaseId);
          return database === undefined;
        })
        .map(({ query }) => query.id);
      if (ids.length === 0) return;
      await records.remove(ids);
      for (const id of ids) this.#entries.delete(id);
    });
  }

  /** Throws `database_not_found` and `internal_database`. */
  #database(name: string, language: QueryDefinition['language']): DatabaseSchema {
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    const database = this.#deps.catalog.database(name);
    // In InfluxQL, `db/policy` is a retention policy, not a database.
    const isPolicy = language === 'influxql' && databaseOfPolicy(name) !== undefined;
    if (database !== undefined && !isPolicy) return database;
    throw tsdbError('database_not_found', { database: name });
  }

  #find(databaseId: number, name: string): Entry | undefined {
    return [...this.#entries.values()].find(
      ({ query }) => query.databaseId === databaseId && query.name === name,
    );
  }

  /** Serializes changes of queries. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(work);
    this.#changes = result.catch(() => undefined); // The caller receives the failure.
    return result;
  }
}

function listed({ query, work, runner, fault }: Entry, database: string): ListedQuery {
  const { name, definition } = query;
  const error = runner?.state.lastError ?? fault;
  return {
    ...{ database, name, definition, state: runner?.state },
    positionNs: runner?.positionNs,
    lastError: error === undefined ? undefined : messageOf(error),
    target: work?.target,
    everyNs: work?.timing.everyNs,
    forNs: work?.timing.forNs,
  };
}

/** InfluxDB 1.x ignores letter case when it compares two queries. */
function isEqual(a: QueryDefinition, b: QueryDefinition): boolean {
  if (a.language === 'influxql' || b.language === 'influxql') {
    return a.language === b.language && a.text.toLowerCase() === b.text.toLowerCase();
  }
  const { text, everyNs, forNs, table } = a;
  return text === b.text && everyNs === b.everyNs && forNs === b.forNs && table === b.table;
}

const messageOf = (error: unknown): string =>
  isDomainError(error) || error instanceof RunTimedOut ? error.message : 'internal error';
