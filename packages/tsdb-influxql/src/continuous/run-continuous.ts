import { assertNever } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { printStatement } from '../ast/print.js';
import type { Measurement, SelectStatement } from '../ast/select.js';
import type { ContinuousQueryStatement, CreateContinuousQuery } from '../ast/statements.js';
import { databaseOf, findPolicy } from '../plan/compile/find-sources.js';
import type { Environment } from '../plan/environment.js';
import { completeResult, EMPTY_RESULT, type StatementResult, textColumn } from '../result.js';
import { databaseNames } from '../show/run-show.js';
import type { ContinuousQueryDirectory } from './continuous-query-directory.js';

interface ContinuousContext {
  readonly env: Environment;
  readonly directory: ContinuousQueryDirectory;
  databases(): readonly DatabaseSchema[];
  /** Throws `plan_error` if the SELECT is invalid. */
  check(select: SelectStatement): void;
}

/** Runs a statement about continuous queries. Source: query-languages, "Continuous queries". */
export async function runContinuous(
  statement: ContinuousQueryStatement,
  context: ContinuousContext,
): Promise<StatementResult> {
  switch (statement.kind) {
    case 'create_continuous_query':
      await create(statement, context);
      return EMPTY_RESULT;
    case 'drop_continuous_query':
      await context.directory.drop(statement.database, statement.name);
      return EMPTY_RESULT;
    case 'show_continuous_queries':
      return list(context);
    default:
      return assertNever(statement);
  }
}

async function create(statement: CreateContinuousQuery, context: ContinuousContext): Promise<void> {
  const { name, database } = statement;
  // As in 1.x, the database of the request takes precedence for unqualified measurements.
  const env = { ...context.env, database: context.env.database || database };
  const select = qualified(statement.select, env);
  context.check(select);
  const text = printStatement({ ...statement, select });
  await context.directory.create({ database, name, text });
}

/** Adds the database and the retention policy to each measurement, as 1.x stores them. */
function qualified(select: SelectStatement, env: Environment): SelectStatement {
  const named = (measurement: Measurement): Measurement => {
    const database = measurement.database || env.database;
    if (!database) throw tsdbError('plan_error', 'database name required');
    const given = measurement.policy ?? (measurement.database === undefined ? env.policy : '');
    const policy = given || env.databaseOf(database)?.defaultPolicy || 'autogen';
    databaseOf({ database, policy: 'autogen' }, env); // throws if it does not exist
    if (findPolicy(database, policy, env) === undefined) {
      throw tsdbError('plan_error', `retention policy not found: ${database}.${policy}`);
    }
    return { ...measurement, database, policy };
  };
  return {
    ...select,
    ...(select.into !== undefined && { into: named(select.into) }),
    sources: select.sources.map((source) =>
      source.kind === 'subquery'
        ? { ...source, select: qualified(source.select, env) }
        : named(source),
    ),
  };
}

/**
 * Returns a series for each database, even if it has no queries, because clients read the columns.
 */
function list({ directory, databases }: ContinuousContext): StatementResult {
  const queries = directory.list();
  return completeResult(
    [textColumn('name'), textColumn('query')],
    databaseNames({ databases }).map((name) => {
      const own = queries.filter(({ database }) => database === name);
      const columns = [own.map((query) => query.name), own.map(({ text }) => text)];
      return { name, tags: [], rowCount: own.length, columns };
    }),
  );
}
