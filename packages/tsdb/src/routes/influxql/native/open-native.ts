import { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { Statement } from '@plinth/tsdb-influxql/ast/statements.js';
import type { InfluxqlRun } from '@plinth/tsdb-influxql/influxql.js';
import { ParseError } from '@plinth/tsdb-influxql/parse/parse-error.js';
import type { StatementResult } from '@plinth/tsdb-influxql/result.js';
import type { ResultStream } from '@plinth/tsdb-model/columns/result.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { RouteDeps } from '../../deps.js';
import { checkNamedDatabase } from '../named-database.js';
import { nativeRows } from './native-rows.js';
import { nativeShow } from './native-show.js';

/** A statement whose rows have not been read. Call `run.end` after reading them. */
export interface NativeResult {
  readonly run: InfluxqlRun;
  readonly statement: Statement;
  readonly result: StatementResult;
}

/**
 * Runs the single statement of a native request. Source: tsdb-http, "Failures" of the native query
 * endpoints.
 */
export async function openNative(
  query: {
    readonly text: string;
    readonly params: ReadonlyMap<string, ParameterValue>;
    readonly database: string | undefined;
    /** Retention policy; a policy in the statement takes precedence. */
    readonly policy?: string | undefined;
    readonly access: DatabaseAccess;
  },
  deps: Pick<RouteDeps, 'influxql' | 'catalog'>,
  signal: AbortSignal,
): Promise<NativeResult> {
  const run = await open(query, deps, signal);
  try {
    const [statement] = run.statements;
    if (statement === undefined) {
      throw tsdbError(
        'plan_error',
        'error in InfluxQL statement: parsing error: invalid InfluxQL statement at pos 0',
      );
    }
    checkNamedDatabase(statement, query.database);
    const view = new CatalogView(deps.catalog, query.access);
    const result = nativeShow(statement, query.database, view) ?? (await run.execute(0));
    return { run, statement, result };
  } catch (error) {
    run.end('fail');
    throw error;
  }
}

/** Returns the rows of the result. Reading them to the end or abandoning them ends the run. */
export function rowsOf({ run, statement, result }: NativeResult): ResultStream {
  const rows = nativeRows(result, statement);
  async function* chunks() {
    let outcome: 'success' | 'cancel' = 'cancel';
    try {
      yield* rows.chunks;
      outcome = 'success';
    } finally {
      run.end(outcome);
    }
  }
  return { ...rows, chunks: chunks() };
}

async function open(
  { text, params, database, policy, access }: Parameters<typeof openNative>[0],
  { influxql }: Pick<RouteDeps, 'influxql'>,
  signal: AbortSignal,
): Promise<InfluxqlRun> {
  try {
    return await influxql.open({
      ...{ text, params, database, policy, signal, access },
      dialect: 'native',
    });
  } catch (error) {
    if (error instanceof ParseError) {
      throw tsdbError('plan_error', `error in InfluxQL statement: ${error.message}`);
    }
    throw error;
  }
}
