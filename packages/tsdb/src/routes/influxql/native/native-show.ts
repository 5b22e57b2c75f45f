import type { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { Statement } from '@plinth/tsdb-influxql/ast/statements.js';
import { listResult, type StatementResult, textColumn } from '@plinth/tsdb-influxql/result.js';
import { goDuration } from '@plinth/tsdb-influxql/show/go-duration.js';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Returns the result of the two SHOW statements that have other columns on the native endpoints;
 * `undefined` for all other statements.
 * @param database the database named in the request.
 * Source: tsdb-http, §7.5.
 */
export function nativeShow(
  statement: Statement,
  database: string | undefined,
  catalog: CatalogView,
): StatementResult | undefined {
  switch (statement.kind) {
    case 'show_databases':
      return showDatabases(catalog);
    case 'show_retention_policies':
      return showPolicies(statement.database ?? (database || undefined), catalog);
    default:
      return undefined;
  }
}

function showDatabases(catalog: CatalogView): StatementResult {
  const active = catalog.databases().map(({ name }) => [name, false] as const);
  const deleted = catalog.deletedDatabases().map(({ schema }) => [schema.name, true] as const);
  const rows = [active, deleted].flatMap((list) =>
    [...list].sort((a, b) => compareByteOrder(a[0], b[0])),
  );
  return listResult(
    [textColumn('iox::database'), { name: 'deleted', type: 'boolean' }],
    [{ name: 'databases', rows }],
  );
}

function showPolicies(database: string | undefined, catalog: CatalogView): StatementResult {
  if (database !== undefined && catalog.database(database) === undefined) {
    throw tsdbError('database_not_found', { database });
  }
  const rows = catalog
    .databases()
    .filter(
      ({ name }) => database === undefined || name === database || name.startsWith(`${database}/`),
    )
    .map(({ name, retentionNs }) => {
      const [whole = '', policy = 'autogen'] = name.split('/');
      return [whole, policy, goDuration(retentionNs ?? 0n)];
    });
  return listResult(['iox::database', 'name', 'duration'].map(textColumn), [
    { name: 'retention_policies', rows },
  ]);
}
