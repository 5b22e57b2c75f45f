import type { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { withPolicies } from '@plinth/tsdb-influxql/plan/compile/find-sources.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

const NOT_FOUND = /^Error during planning: table 'public\.iox\.(.+)' not found$/s;
const MAX_NAMED = 3;

/**
 * Extends a "table not found" error with the visible databases of the same retention policies that
 * contain the table. After a migration from InfluxDB 1.x, rows in another policy would otherwise
 * seem lost.
 */
export function withOtherDatabaseHint(
  error: unknown,
  database: string,
  view: CatalogView,
): unknown {
  if (!tsdbError.is(error) || error.kind !== 'plan_error') return error;
  const [, table] = NOT_FOUND.exec(error.message) ?? [];
  const here = view.databases().find(({ name }) => name === database);
  if (table === undefined || here === undefined) return error;
  const names = withPolicies(here, view.databases())
    .filter(({ tables }) => tables.get(table) !== undefined)
    .map(({ name }) => `'${name}'`);
  if (names.length === 0) return error;
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const place = names.length === 1 ? 'database' : 'databases';
  return tsdbError(
    'plan_error',
    `${error.message}; a table with this name exists in ${place} ${shown}`,
  );
}
