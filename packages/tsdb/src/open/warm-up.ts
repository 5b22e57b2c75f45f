import { setTimeout } from 'node:timers/promises';
import type { Clock, Logger } from '@plinth/kernel';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { Influxql, InfluxqlRun } from '@plinth/tsdb-influxql/influxql.js';
import type { ParserPool } from '@plinth/tsdb-ingest/workers/parser-pool.js';
import type { ResultStream } from '@plinth/tsdb-model/columns/result.js';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { OWN_TABLE } from '../domain/own-metrics/metrics-recorder.js';

/** Lets the runtime compile the code of parsers and queries in the background, once. */
export class WarmUp {
  readonly #deps: WarmUpDeps;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: WarmUpDeps) {
    this.#deps = deps;
  }

  start(consume: WarmUpConsumers): void {
    if (this.#deps.isEnabled) this.#running ??= this.#run(consume);
  }

  /** Resolves when no statement is running. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(consume: WarmUpConsumers): Promise<void> {
    const { parserPool, clock, delayMs, log } = this.#deps;
    const { signal } = this.#closing;
    try {
      if (delayMs > 0) await clock.sleep(delayMs, signal).catch(() => undefined); // rejects on close
      await parserPool.warmUp(signal);
      await warmUpQueries({ ...this.#deps, consume, signal });
    } catch (err) {
      log.warn({ err }, 'warm-up incomplete');
    }
  }
}

interface WarmUpDeps {
  readonly engine: Pick<Engine, 'query'>;
  readonly influxql: Pick<Influxql, 'open'>;
  readonly catalog: Pick<Catalog, 'database'>;
  readonly parserPool: Pick<ParserPool, 'warmUp'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly isEnabled: boolean;
  /** Delay before the first statement, which leaves the CPU to the first requests. */
  readonly delayMs: number;
}

/** Functions that read results to the end, as a client does. */
export interface WarmUpConsumers {
  sql(result: ResultStream): Promise<void>;
  influxql(run: InfluxqlRun): Promise<void>;
}

/** Requests directly after the start have priority. */
const DELAY_MS = 1000;
/** Pause between two statements, which leaves most of the time to requests. */
const PAUSE_MS = 20;
const ROUNDS = 2;

/**
 * Runs typical dashboard queries on the server's own metrics, as a client does. The first user queries then do not wait
 * until parser, DuckDB and the code of both languages are loaded. Runs at most twenty statements.
 */
async function warmUpQueries(deps: {
  readonly engine: Pick<Engine, 'query'>;
  readonly influxql: Pick<Influxql, 'open'>;
  readonly catalog: Pick<Catalog, 'database'>;
  readonly consume: WarmUpConsumers;
  /** Aborted when the node closes. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { engine, influxql, catalog, consume, signal } = deps;
  const about = {
    database: INTERNAL_DATABASE,
    access: FULL_ACCESS,
    params: new Map(),
    signal,
    isInternal: true,
  };
  const table = catalog.database(INTERNAL_DATABASE)?.tables.get(OWN_TABLE);
  const field = [...(table?.columns.values() ?? [])].find(({ kind }) => kind === 'float64')?.name;
  try {
    await setTimeout(DELAY_MS, undefined, { signal });
    for (let round = 0; round < ROUNDS; round++) {
      for (const text of field === undefined ? ['SELECT 1'] : sqlStatements(field, round)) {
        await consume.sql(await engine.query({ ...about, language: 'sql', text }));
        await setTimeout(PAUSE_MS, undefined, { signal });
      }
      for (const text of field === undefined ? ['SHOW DATABASES'] : influxqlStatements(field)) {
        await consume.influxql(await influxql.open({ ...about, policy: undefined, text }));
        await setTimeout(PAUSE_MS, undefined, { signal });
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function sqlStatements(field: string, round: number): readonly string[] {
  const bucket = "date_bin(INTERVAL '1 minute', time) AS bucket";
  const from = `FROM ${OWN_TABLE} WHERE time >= now() - INTERVAL '${10 + round} minutes'`;
  return [
    `SELECT ${bucket}, max("${field}") AS x, min("${field}") AS y ${from} GROUP BY bucket ORDER BY bucket`,
    `SELECT ${bucket}, node, avg("${field}") AS x ${from} GROUP BY bucket, node ORDER BY bucket, node`,
    `SELECT "${field}" ${from} AND "${field}" > 90`,
    `SELECT DISTINCT ON (node) node, "${field}" ${from} ORDER BY node, time DESC`,
    `SELECT ${bucket}, max("${field}") AS x ${from} GROUP BY bucket ORDER BY bucket DESC LIMIT 5`,
  ];
}

function influxqlStatements(field: string): readonly string[] {
  const from = `FROM "${OWN_TABLE}" WHERE time >= now() - 10m`;
  return [
    `SELECT max("${field}") AS "x", min("${field}") AS "y" ${from} GROUP BY time(1m)`,
    `SELECT mean("${field}") ${from} GROUP BY time(30s), "node" fill(null)`,
    `SELECT "${field}" ${from} AND "${field}" > 90`,
    `SELECT "${field}" ${from} GROUP BY "node" ORDER BY time DESC LIMIT 1`,
    `SELECT max("${field}") AS "x" ${from} GROUP BY time(1m) ORDER BY time DESC LIMIT 5`,
  ];
}
