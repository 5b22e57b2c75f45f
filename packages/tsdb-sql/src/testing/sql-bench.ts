import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Column, ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type {
  ParameterValue,
  PlanContext,
  PlannedQuery,
} from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { duckDbType } from '../emit/duckdb-type.js';
import { quoteName } from '../emit/quote.js';
import { registerDuckDbFunctions } from '../functions/index.js';
import { PLANNER_THREAD_LIMITS } from '../parse/planning-limits.js';
import { columnType } from '../plan/select/column-type.js';
import { plannedFrom, StatementPlanner } from '../statement-planner.js';

export interface BenchTable {
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /**
   * Cells as DuckDB SQL in column order, for example `"'a'"` or `'1.5'`; `time` in nanoseconds.
   */
  readonly rows: readonly (readonly string[])[];
}

/** Plans a query and runs it on tables in a separate DuckDB instance. For tests. */
export class SqlBench {
  readonly nowNs: bigint;
  readonly #planner: StatementPlanner;
  readonly #connection: DuckDBConnection;
  readonly #database: DatabaseSchema;

  private constructor(
    planner: StatementPlanner,
    connection: DuckDBConnection,
    database: DatabaseSchema,
    nowNs: bigint,
  ) {
    this.#planner = planner;
    this.#connection = connection;
    this.#database = database;
    this.nowNs = nowNs;
  }

  static async open(
    tables: Readonly<Record<string, BenchTable>>,
    nowNs = 1_600_000_000_000_000_000n,
  ): Promise<SqlBench> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await registerDuckDbFunctions(connection);
    const schemas = new Map<string, TableSchema>();
    for (const [name, table] of Object.entries(tables)) {
      const schema = tableSchema(name, schemas.size + 1, table);
      schemas.set(name, schema);
      await createTable(connection, schema, table);
    }
    const database = { id: 1, uuid: 'd', name: 'db', retentionNs: undefined, tables: schemas };
    return new SqlBench(
      await StatementPlanner.load({ maxCachedCount: 64 }),
      connection,
      database,
      nowNs,
    );
  }

  plan(text: string, params: Readonly<Record<string, ParameterValue>> = {}): PlannedQuery {
    const context: PlanContext = {
      database: this.#database,
      nowNs: this.nowNs,
      params: new Map(Object.entries(params)),
      virtualTables: {
        table: () => undefined,
        tableFunction: () => undefined,
        systemTableNames: [],
      },
    };
    return plannedFrom(this.#planner.plan(text, context, PLANNER_THREAD_LIMITS).serialized);
  }

  duckDbText(planned: PlannedQuery): string {
    return planned.render((index) => {
      const scan = planned.scans[index];
      const names = scan?.columns.map((name) =>
        quoteName(scan.table.columns.get(name)?.physicalName ?? name),
      );
      const list = names === undefined || names.length === 0 ? '1 AS _' : names.join(', ');
      return `(SELECT ${list} FROM t${scan?.table.id})`;
    });
  }

  /** Returns the result rows as text: cells joined by `|`, NULL empty. */
  async rows(
    text: string,
    params: Readonly<Record<string, ParameterValue>> = {},
  ): Promise<readonly string[]> {
    const planned = this.plan(text, params);
    const result = await this.#connection.runAndReadAll(this.duckDbText(planned));
    return result
      .getRowsJson()
      .map((row) => row.map((cell) => (cell === null ? '' : cellText(cell))).join('|'));
  }

  close(): void {
    this.#connection.closeSync();
  }
}

function cellText(cell: unknown): string {
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

export function tableSchema(name: string, id: number, table: BenchTable): TableSchema {
  const columns = new Map<string, Column>();
  const names = Object.keys(table.columns).sort();
  for (const [index, column] of names.entries()) {
    const isTaken = names
      .slice(0, index)
      .some((other) => other.toLowerCase() === column.toLowerCase());
    columns.set(column, {
      id: index,
      name: column,
      kind: table.columns[column] ?? 'float64',
      physicalName: isTaken ? `${column}#${index}` : column,
    });
  }
  const tags = Object.keys(table.columns).filter((column) => table.columns[column] === 'tag');
  return {
    id,
    uuid: name,
    databaseId: 1,
    name,
    columns,
    seriesKey: tags,
    seriesSeed: 0n,
    version: 1,
  };
}

async function createTable(
  connection: DuckDBConnection,
  schema: TableSchema,
  table: BenchTable,
): Promise<void> {
  const given = Object.keys(table.columns).map((name) => schema.columns.get(name));
  const columns = given.map((column) =>
    column === undefined
      ? ''
      : `${quoteName(column.physicalName)} ${duckDbType(columnType(column.kind))}`,
  );
  await connection.run(`CREATE TABLE t${schema.id} (${columns.join(', ')})`);
  for (const row of table.rows) {
    const cells = row.map((cell, index) =>
      given[index]?.kind === 'time' ? `make_timestamp_ns(${cell})` : cell,
    );
    await connection.run(`INSERT INTO t${schema.id} VALUES (${cells.join(', ')})`);
  }
}
