import { printExpr, quoteName } from '@plinth/tsdb-influxql/ast/print.js';
import type { Influxql } from '@plinth/tsdb-influxql/influxql.js';
import { MAX_UINT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { databaseOfPolicy } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { DeleteCondition } from './delete-predicate.js';

type Literal = Parameters<typeof printExpr>[0];

/**
 * Returns whether the predicate compares a field of one of the tables. Throws `delete_predicate_invalid` for an
 * ordering of tags.
 */
export function comparesFields(
  conditions: readonly DeleteCondition[],
  tables: readonly TableSchema[],
): boolean {
  for (const { name, op } of conditions) {
    if (op === '=' || op === '!=' || isField(name, tables)) continue;
    throw tsdbError(
      'delete_predicate_invalid',
      `invalid delete predicate: no table has a field ${JSON.stringify(name)}, and tags support only = and !=`,
    );
  }
  return conditions.some(({ name }) => isField(name, tables));
}

/** Deletes the rows, or values of a field, that meet conditions on fields, as the InfluxQL statement DELETE does. */
export async function deleteByField(
  deletion: {
    readonly database: string;
    readonly table: string | undefined;
    readonly field: string | undefined;
    readonly minTimeNs: bigint;
    readonly maxTimeNs: bigint;
    readonly conditions: readonly DeleteCondition[];
    readonly tables: readonly TableSchema[];
  },
  options: {
    readonly influxql: Influxql;
    readonly access: DatabaseAccess;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { database, table, field, minTimeNs, maxTimeNs, conditions, tables } = deletion;
  const databaseName = databaseOfPolicy(database);
  const [db, policy] =
    databaseName === undefined
      ? [database, 'autogen']
      : [databaseName, database.slice(databaseName.length + 1)];
  const source = table === undefined ? '/.*/' : quoteName(table);
  const where = [
    ...conditions.map((condition) => comparisonText(condition, tables)),
    ...(minTimeNs > MIN_TIME_NS ? [`time >= ${minTimeNs}`] : []),
    ...(maxTimeNs < MAX_TIME_NS ? [`time <= ${maxTimeNs}`] : []),
  ];
  const what = field === undefined ? '' : ` FIELD ${quoteName(field)}`;
  const text = `DELETE${what} FROM ${quoteName(db)}.${quoteName(policy)}.${source} WHERE ${where.join(' AND ')}`;
  const run = await options.influxql.open({
    text,
    database: db,
    policy: undefined,
    params: new Map(),
    access: options.access,
    signal: options.signal,
  });
  let outcome: 'success' | 'fail' = 'fail';
  try {
    await run.execute(0);
    outcome = 'success';
  } finally {
    run.end(outcome);
  }
}

const isField = (name: string, tables: readonly TableSchema[]): boolean =>
  tables.some(({ columns }) => {
    const kind = columns.get(name)?.kind;
    return kind !== undefined && kind !== 'tag' && kind !== 'time';
  });

const isIntegerField = (name: string, tables: readonly TableSchema[]): boolean =>
  tables.some(({ columns }) => /^u?int64$/.test(columns.get(name)?.kind ?? ''));

function comparisonText(condition: DeleteCondition, tables: readonly TableSchema[]): string {
  const { name, op } = condition;
  const value = isField(name, tables)
    ? literalOf(condition, isIntegerField(name, tables))
    : ({ kind: 'string', value: condition.value } as const);
  return `${quoteName(name)} ${op} ${printExpr(value)}`;
}

/** Throws `delete_predicate_invalid`. */
function literalOf({ name, value, isQuoted }: DeleteCondition, isInteger: boolean): Literal {
  if (isQuoted) return { kind: 'string', value };
  if (value === 'true' || value === 'false') return { kind: 'boolean', value: value === 'true' };
  const integer = /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
  if (integer !== undefined && integer >= MIN_INT64 && integer <= MAX_UINT64)
    return { kind: 'integer', value: integer };
  // A float would also match neighboring values.
  if (isInteger && /^-?\d+$/.test(value))
    throw tsdbError(
      'delete_predicate_invalid',
      `invalid delete predicate: the value of field ${JSON.stringify(name)} is out of range; use an integer from ${MIN_INT64} to ${MAX_UINT64}`,
    );
  const number = Number(value);
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(value) && Number.isFinite(number)) {
    return { kind: 'number', value: number };
  }
  throw tsdbError(
    'delete_predicate_invalid',
    `invalid delete predicate: the value of field ${JSON.stringify(name)} is not valid; use a number, true, false or a quoted string`,
  );
}
