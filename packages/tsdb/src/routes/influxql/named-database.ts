import type { Measurement, SelectStatement } from '@plinth/tsdb-influxql/ast/select.js';
import type { Statement } from '@plinth/tsdb-influxql/ast/statements.js';
import { NO_DATABASE, policyDatabase } from '@plinth/tsdb-influxql/plan/compile/find-sources.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Checks the database of a statement on a native endpoint: at most one, and the same in statement
 * and parameters.
 */
export function checkNamedDatabase(statement: Statement, parameter: string | undefined): void {
  const named = new Set(namesIn(statement));
  if (named.size > 1) {
    throw tsdbError(
      'plan_error',
      'error in InfluxQL statement: can only perform queries on a single database',
    );
  }
  const [name] = named;
  if (name !== undefined && parameter !== undefined && parameter !== '' && name !== parameter) {
    throw tsdbError(
      'plan_error',
      `provided a database in both the parameters (${parameter}) and query string (${name}) that do not match, if providing a query that specifies the database, you can omit the 'database' parameter from your request`,
    );
  }
  const needsNone =
    statement.kind === 'show_databases' || statement.kind === 'show_retention_policies';
  if (name === undefined && !parameter && !needsNone) throw tsdbError('plan_error', NO_DATABASE);
}

function namesIn(statement: Statement): string[] {
  switch (statement.kind) {
    case 'select':
      return selectNames(statement);
    case 'explain':
      return selectNames(statement.select);
    default: {
      const on = 'database' in statement ? statement.database : undefined;
      const sources = 'sources' in statement ? statement.sources : [];
      return [...(on === undefined ? [] : [on]), ...sources.flatMap(nameOf)];
    }
  }
}

function selectNames(select: SelectStatement): string[] {
  return select.sources.flatMap((source) =>
    source.kind === 'subquery' ? selectNames(source.select) : nameOf(source),
  );
}

function nameOf({ database, policy }: Measurement): string[] {
  return database === undefined ? [] : [policyDatabase(database, policy ?? '')];
}
