import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { RebuildableTable } from '@plinth/tsdb-storage/duckdb/rebuildable-table.js';
import { samePointCondition } from './latest-values.js';
import { type Source, timeCondition } from './sources.js';

/**
 * The points of a table that were written more than once and are not merged yet: (`_series`,
 * `time`) pairs in a DuckDB table. Almost always empty; only queries that read these points pay for merging.
 */
export class RepeatedKeys {
  readonly #table: RebuildableTable;
  #count = 0;
  #minTime = 0n;
  #maxTime = 0n;
  #exists = false;
  readonly #duckDb: DuckDbHost;

  constructor(options: { readonly name: string; readonly duckDb: DuckDbHost }) {
    this.#table = new RebuildableTable(options.name);
    this.#duckDb = options.duckDb;
  }

  get name(): string {
    return this.#table.name;
  }

  get count(): number {
    return this.#count;
  }

  /** False if no point between the two timestamps was written twice. */
  touches(minTime: bigint, maxTime: bigint): boolean {
    return this.#count > 0 && this.#minTime <= maxTime && this.#maxTime >= minTime;
  }

  /**
   * Finds and stores the points of `fresh` that also occur in `others`, or more than once in
   * `fresh`. `fresh` are newly written rows that may repeat stored points.
   */
  async find(options: {
    /** FROM and WHERE of the fresh rows. */
    readonly fresh: string;
    readonly minTime: bigint;
    readonly maxTime: bigint;
    readonly others: readonly Source[];
  }): Promise<void> {
    const range = timeCondition(options.minTime, options.maxTime);
    const repeats = `SELECT _series, "time" FROM (SELECT _series, "time", count(*) AS n FROM ${options.fresh} GROUP BY ALL) WHERE n > 1`;
    const hits = options.others
      .filter((other) => other.minTime <= options.maxTime && other.maxTime >= options.minTime)
      .map(
        (other) =>
          `SELECT o._series, o."time" FROM (SELECT _series, "time" FROM ${other.from}${whereText(other, range)}) o SEMI JOIN (SELECT _series, "time" FROM ${options.fresh}) f ON ${samePointCondition('o', 'f')}`,
      );
    await this.#add([repeats, ...hits].join(' UNION ALL '));
  }

  /** Stores all points of a source. Used for overlay segments after a restart. */
  async addAll(source: Source): Promise<void> {
    await this.#add(`SELECT _series, "time" FROM ${source.from}`);
  }

  /**
   * Returns a new set with the points that occur in one of `sources`. This set stays unchanged for running queries.
   */
  async pruned(name: string, sources: readonly Source[]): Promise<RepeatedKeys> {
    const rest = new RepeatedKeys({ name, duckDb: this.#duckDb });
    if (this.#count === 0 || sources.length === 0) return rest;
    const hits = sources.map(
      (source) =>
        `SELECT d._series, d."time" FROM ${quoteName(this.name)} d SEMI JOIN (SELECT _series, "time" FROM ${source.from}${whereText(source)}) k ON ${samePointCondition('k', 'd')}`,
    );
    try {
      await rest.#add(hits.join(' UNION ALL '));
    } catch (error) {
      await rest.drop().catch(() => undefined); // the first failure is reported instead
      throw error;
    }
    return rest;
  }

  async drop(): Promise<void> {
    await this.#duckDb.withWriter(async (connection) => {
      await connection.run(`DROP TABLE IF EXISTS ${quoteName(this.name)}`);
    });
    this.#exists = false;
    this.#count = 0;
  }

  async #add(keysText: string): Promise<void> {
    const name = quoteName(this.name);
    await this.#duckDb.withWriter(async (connection) => {
      if (!this.#exists) {
        await connection.run(`CREATE TABLE ${name} (_series BIGINT, "time" TIMESTAMP_NS)`);
        this.#exists = true;
        this.#table.reset();
      }
      const insert = `INSERT INTO ${name} SELECT DISTINCT k._series, k."time" FROM (${keysText}) k ANTI JOIN ${name} d ON ${samePointCondition('k', 'd')}`;
      await this.#table.change(connection, this.#count, async () => {
        await connection.run(insert);
        await this.#refresh(connection);
      });
    });
  }

  /** Updates count and time range. Call only on the writer connection, after a change. */
  async #refresh(connection: DuckDBConnection): Promise<void> {
    const reader = await connection.runAndReadAll(
      `SELECT count(*), epoch_ns(min("time")), epoch_ns(max("time")) FROM ${quoteName(this.name)}`,
    );
    const [row] = reader.getRows();
    this.#count = Number(row?.[0] ?? 0);
    this.#minTime = BigInt(String(row?.[1] ?? 0));
    this.#maxTime = BigInt(String(row?.[2] ?? 0));
  }
}

function whereText({ where }: Source, condition?: string): string {
  const conditions = [condition, where].filter((each) => each !== undefined);
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}
