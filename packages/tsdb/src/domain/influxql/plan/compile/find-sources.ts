import { tsdbError } from '../../../../errors.js';
import { compareByteOrder } from '../../../../model/byte-order.js';
import type { DatabaseSchema } from '../../../../model/schema.js';
import { ownerOf } from '../../../catalog/schema/names.js';
import type { Measurement } from '../../ast/select.js';
import { compileRegex } from '../condition/regex.js';
import type { Environment } from '../environment.js';
import type { TableSource } from './source.js';

/** Names that mean the database itself. */
const DEFAULT_POLICIES: ReadonlySet<string> = new Set(['', 'autogen', 'default']);

export const NO_DATABASE =
  "must specify a 'db' parameter, or provide the database in the InfluxQL query";

/**
 * The database that a measurement lies in. A retention policy is the database `db/policy`.
 * Source: query-languages, "Qualified names".
 */
export function databaseOf(
  at: { readonly database?: string; readonly policy?: string },
  env: Environment,
): DatabaseSchema {
  const name = at.database ?? env.database;
  if (name === undefined || name === '') throw tsdbError('plan_error', NO_DATABASE);
  const policy = at.policy ?? (at.database === undefined ? env.policy : undefined) ?? '';
  const byDefault =
    policy === '' && env.usesDefaultPolicies ? defaultDatabase(name, env) : undefined;
  if (byDefault !== undefined) return byDefault;
  const whole = policyDatabase(name, policy);
  const found = env.databaseOf(whole);
  if (found !== undefined) return found;
  // Without a database in the text, a policy that is no database of its own is not looked at.
  const plain =
    at.database === undefined && at.policy !== undefined ? env.databaseOf(name) : undefined;
  if (plain === undefined) throw tsdbError('database_not_found', { database: whole });
  return plain;
}

/** The database of the default retention policy, when there is one besides the database itself. */
export function defaultDatabase(
  name: string,
  at: Pick<Environment, 'databaseOf'>,
): DatabaseSchema | undefined {
  const policy = at.databaseOf(name)?.defaultPolicy;
  return policy === undefined ? undefined : at.databaseOf(policyDatabase(name, policy));
}

export function policyDatabase(database: string, policy: string): string {
  return DEFAULT_POLICIES.has(policy) ? database : `${database}/${policy}`;
}

/** A database and its retention policies; of a policy, the database that it belongs to and all its policies. */
export function withPolicies(
  database: DatabaseSchema,
  databases: readonly DatabaseSchema[],
): readonly DatabaseSchema[] {
  const owner = ownerOf(database.name) ?? database.name;
  return databases.filter(({ name }) => (ownerOf(name) ?? name) === owner);
}

/** Tables that a measurement means, ascending by name; unknown ones are left out. */
export function findTables(measurement: Measurement, env: Environment): TableSource[] {
  const database = databaseOf(measurement, env);
  const sourceOf = (name: string): TableSource[] => {
    const table = database.tables.get(name);
    return table === undefined ? [] : [{ kind: 'table', name, database, table }];
  };
  if (typeof measurement.name === 'string') return sourceOf(measurement.name);
  const regex = compileRegex(measurement.name.source);
  for (const name of database.tables.keys()) {
    env.effort.spend(1 + regex.stepsPerCharacter * name.length);
  }
  return [...database.tables.keys()]
    .filter((name) => regex.test(name))
    .sort(compareByteOrder)
    .flatMap(sourceOf);
}
