import { toAsciiLowerCase } from '@plinth/kernel';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { databaseOfPolicy } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { Measurement } from '../../ast/select.js';
import { compileRegex } from '../condition/regex.js';
import type { Environment } from '../environment.js';
import { renamedMeasurement } from './former-names.js';
import type { TableSource } from './source.js';

/** Names of retention policies that refer to the database itself. */
const DEFAULT_POLICIES: ReadonlySet<string> = new Set(['', 'autogen', 'default']);

export const NO_DATABASE =
  "must specify a 'db' parameter, or provide the database in the InfluxQL query";

/**
 * Returns the database of a measurement. A retention policy is stored as the database `db/policy`.
 * Throws if it does not exist.
 * Source: query-languages, "Qualified names".
 */
export function databaseOf(
  options: { readonly database?: string; readonly policy?: string },
  env: Environment,
): DatabaseSchema {
  const name = options.database ?? env.database;
  if (name === undefined || name === '') throw tsdbError('plan_error', NO_DATABASE);
  const policy = options.policy ?? (options.database === undefined ? env.policy : undefined) ?? '';
  const byDefault =
    policy === '' && env.usesDefaultPolicies ? defaultDatabase(name, env) : undefined;
  if (byDefault !== undefined) return byDefault;
  const found = findPolicy(name, policy, env);
  if (found !== undefined) return found;
  if (!env.usesDefaultPolicies)
    throw tsdbError('database_not_found', { database: policyDatabase(name, policy) });
  if (env.databaseOf(name) === undefined) throw tsdbError('database_not_found', { database: name });
  throw tsdbError('plan_error', `retention policy not found: ${policy}`);
}

/**
 * Returns the database of the default retention policy, if it exists in addition to the database itself.
 */
export function defaultDatabase(
  name: string,
  options: Pick<Environment, 'databaseOf'>,
): DatabaseSchema | undefined {
  const policy = options.databaseOf(name)?.defaultPolicy;
  return policy === undefined ? undefined : options.databaseOf(policyDatabase(name, policy));
}

/**
 * Finds a policy by its exact name, then by the name in lower case, because writes create policies
 * with lower-case names, as InfluxDB 3 does.
 */
export function findPolicy(
  database: string,
  policy: string,
  options: Pick<Environment, 'databaseOf'>,
): DatabaseSchema | undefined {
  return (
    options.databaseOf(policyDatabase(database, policy)) ??
    options.databaseOf(policyDatabase(database, toAsciiLowerCase(policy)))
  );
}

export function policyDatabase(database: string, policy: string): string {
  return DEFAULT_POLICIES.has(policy) ? database : `${database}/${policy}`;
}

/**
 * Returns a database with all its retention policies. For a policy, it starts from the database
 * that the policy belongs to.
 */
export function withPolicies(
  database: DatabaseSchema,
  databases: readonly DatabaseSchema[],
): readonly DatabaseSchema[] {
  const databaseName = databaseOfPolicy(database.name) ?? database.name;
  return databases.filter(({ name }) => (databaseOfPolicy(name) ?? name) === databaseName);
}

/**
 * Returns the tables that a measurement names, ascending; unknown names are omitted. Throws
 * `plan_error` for the former name of a table.
 */
export function findTables(measurement: Measurement, env: Environment): TableSource[] {
  return tablesIn(databaseOf(measurement, env), measurement.name, env);
}

/** Like `findTables`, but takes a resolved database. */
export function tablesIn(
  database: DatabaseSchema,
  measured: Measurement['name'],
  { effort }: Pick<Environment, 'effort'>,
): TableSource[] {
  const sourceOf = (name: string): TableSource[] => {
    const table = database.tables.get(name);
    if (table !== undefined) return [{ kind: 'table', name, database, table }];
    const renamedTo = database.formerTables?.get(name);
    if (renamedTo !== undefined) throw renamedMeasurement(name, renamedTo);
    return [];
  };
  if (typeof measured === 'string') return sourceOf(measured);
  const regex = compileRegex(measured.source);
  for (const name of database.tables.keys()) {
    effort.spend(1 + regex.stepsPerCharacter * name.length);
  }
  return [...database.tables.keys()]
    .filter((name) => regex.test(name))
    .sort(compareByteOrder)
    .flatMap(sourceOf);
}
