import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { WideTable } from '@plinth/tsdb-model/query/wide-plan.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { publishedColumns } from '../iceberg/table-schema.js';
import { nameFault, sameInLowerCase } from '../namespaces.js';

/** Returns a table as Trino sees it. Throws `plan_error` if Trino cannot read it. */
export function wideTable(
  schema: TableSchema,
  options: {
    readonly catalog: string;
    readonly namespace: string;
    /** Names of all tables in the namespace. */
    readonly tableNames: readonly string[];
    readonly hasSnapshot: boolean;
    readonly visibleFromNs: bigint;
  },
): WideTable {
  const { catalog, namespace, tableNames, hasSnapshot, visibleFromNs } = options;
  const fault =
    nameFault(schema) ?? specialCharacter(schema.name) ?? ambiguity(schema.name, tableNames);
  if (fault !== undefined)
    throw tsdbError('plan_error', `Trino cannot read table ${schema.name}: ${fault}`);
  const published = publishedColumns(schema.columns.values(), 'jvm').fields;
  const names = new Map(published.map(({ id, name }) => [id, name]));
  return {
    path: hasSnapshot ? [catalog, namespace, schema.name] : undefined,
    columnName: (column) => names.get(schema.columns.get(column)?.id ?? -1),
    visibleFromNs: visibleFromNs > MIN_TIME_NS ? visibleFromNs : undefined,
  };
}

/** In Trino, `table$history` and `table@branch` are views of another table. */
const specialCharacter = (name: string): string | undefined =>
  /[$@]/.test(name) ? 'the name contains $ or @' : undefined;

function ambiguity(name: string, names: readonly string[]): string | undefined {
  const other = sameInLowerCase(name, names);
  return other && `the names ${name} and ${other} differ only in case; rename one of them`;
}
