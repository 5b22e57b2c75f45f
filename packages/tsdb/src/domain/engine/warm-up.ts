import { setTimeout } from 'node:timers/promises';
import type { Clock, Random } from '@plinth/kernel';
import type { DatabaseSchema } from '../../model/schema.js';
import type { DuckDbHost } from '../../storage/duckdb/duckdb-host.js';
import type { SegmentFiles } from '../../storage/segments/segment-files.js';
import { QueryLog } from '../system-tables/query-log.js';
import { ColumnCache } from './direct/column-cache.js';
import { type Planner, QueryPath } from './query-path.js';
import { TableStore } from './table-store.js';
import { influxqlStatements, sqlStatements } from './warm-up-statements.js';
import { WARM_UP_DATABASE, WARM_UP_TABLE, warmUpRows } from './warm-up-table.js';

const CACHE_BYTES = 4 * 1024 * 1024;

/** Rounds over all statements from memory, and with the engine. */
const DIRECT_ROUNDS = 48;
const ENGINE_ROUNDS = 3;
/** Between two statements others get their turn, and most of the time. */
const PAUSE_MS = 1;
/** Nobody has written for so long. */
const CALM_MS = 1000;
/** Then the warm-up goes on beside the writes. */
const LONGEST_WAIT_MS = 60_000;

/** Asks as clients do, and takes answers to their ends. */
export interface QueryRehearsal {
  ask(language: 'sql' | 'influxql', text: string): Promise<void>;
  close(): void;
}

/**
 * Asks over a small table of its own, from the request to the last byte of the answer, until the runtime has compiled what
 * queries run through: the first of a user would pay for it otherwise.
 */
export async function warmUpQueries(options: {
  readonly host: DuckDbHost;
  readonly files: SegmentFiles;
  readonly planner: Planner;
  readonly clock: Clock;
  readonly random: Random;
  /** Since the last write. */
  readonly writeIdleMs: () => number;
  readonly rehearse: (queries: QueryPath, database: DatabaseSchema) => Promise<QueryRehearsal>;
  /** Aborted when the node closes. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { clock, signal } = options;
  // Ingest goes first; who writes without a pause warms the rest up with queries of his own.
  const latestMs = clock.monotonicMs() + LONGEST_WAIT_MS;
  const untilCalm = async (): Promise<void> => {
    while (options.writeIdleMs() < CALM_MS && clock.monotonicMs() < latestMs) {
      await setTimeout(CALM_MS / 4, undefined, { signal });
    }
  };
  const store = storeOf(options);
  let rehearsal: QueryRehearsal | undefined;
  try {
    // A load that follows right after the start goes first, too.
    await setTimeout(CALM_MS, undefined, { signal });
    await untilCalm();
    rehearsal = await options.rehearse(queriesOver(store, options), WARM_UP_DATABASE);
    for (const { language, text } of questions()) {
      await untilCalm();
      await rehearsal.ask(language, text);
      await setTimeout(PAUSE_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    rehearsal?.close();
    await store.dispose();
  }
}

function* questions(): Generator<{ readonly language: 'sql' | 'influxql'; readonly text: string }> {
  for (let round = 0; round < DIRECT_ROUNDS; round++) {
    for (const text of sqlStatements(round)) yield { language: 'sql', text };
    for (const text of influxqlStatements(round)) yield { language: 'influxql', text };
  }
  for (let round = 0; round < ENGINE_ROUNDS; round++)
    // What stands in a comment is not looked at, and the statement is planned for the engine.
    for (const text of sqlStatements(round)) yield { language: 'sql', text: `${text} -- ${round}` };
}

type Parts = Pick<
  Parameters<typeof warmUpQueries>[0],
  'host' | 'files' | 'planner' | 'clock' | 'random'
>;

function storeOf({ host, files, clock }: Parts): TableStore {
  const store = new TableStore({
    schema: WARM_UP_TABLE,
    host,
    files,
    cache: new ColumnCache({ limitBytes: CACHE_BYTES, nowMs: () => clock.monotonicMs() }),
    onError: () => undefined,
  });
  store.append(0, warmUpRows(store.index), 1n);
  return store;
}

function queriesOver(store: TableStore, { host, files, planner, clock, random }: Parts): QueryPath {
  return new QueryPath({
    ...{ host, files, planner },
    catalog: { database: () => WARM_UP_DATABASE, databaseById: () => WARM_UP_DATABASE },
    storeOf: () => store,
    virtualTables: () => ({
      table: () => undefined,
      tableFunction: () => undefined,
      systemTableNames: [],
    }),
    queryLog: new QueryLog({ maxEntryCount: 1, clock, random, onEnded() {} }),
    nowNs: () => clock.nowNs(),
    maxConcurrentQueries: 1,
    queryTimeoutMs: 0,
  });
}
