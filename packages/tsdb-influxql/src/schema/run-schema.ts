import { assertNever } from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import type { DeleteRowsRequest, Engine } from '@plinth/tsdb-model/engine.js';
import { refuseFormerColumns, tsdbError } from '@plinth/tsdb-model/errors.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { NS_PER_HOUR } from '@plinth/tsdb-model/time/calendar.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Expr } from '../ast/expressions.js';
import type { Measurement } from '../ast/select.js';
import type { DeleteRows, PolicyOptions, SchemaStatement } from '../ast/statements.js';
import type { Session } from '../execute/session.js';
import {
  databaseOf,
  policyDatabase,
  tablesIn,
  withPolicies,
} from '../plan/compile/find-sources.js';
import { namesIn, renamedMeasurement } from '../plan/compile/former-names.js';
import type { SourceColumns, TableSource } from '../plan/compile/source.js';
import { columnsOf, mergedColumns } from '../plan/compile/source-columns.js';
import { buildFilter, type Filter } from '../plan/condition/filter.js';
import { splitCondition } from '../plan/condition/split-condition.js';
import type { Environment } from '../plan/environment.js';
import { alternatives, checkTagCondition } from './delete-conditions.js';
import { deletePoints, readsFields } from './delete-points.js';

export interface SchemaContext {
  readonly env: Environment;
  readonly session: Session;
  readonly catalog: RelationalCatalog;
  readonly engine: Engine;
}

/** Dropped data stays recoverable for the default period, as with the management API. */
const DELETION = { kind: 'default' } as const;

/** Runs statements that change databases, policies or rows. They return no rows. */
export async function runSchema(
  statement: Exclude<SchemaStatement, { kind: 'kill_query' }>,
  context: SchemaContext,
): Promise<void> {
  const { catalog, engine } = context;
  switch (statement.kind) {
    case 'create_database': {
      await createDatabase(statement.name, statement.policy, catalog);
      return;
    }
    case 'drop_database':
      if (catalog.database(statement.name) === undefined) return;
      await catalog.deletions.deleteDatabase(statement.name, DELETION);
      engine.removeDeletedSoon();
      return;
    case 'create_retention_policy':
      await createPolicy(statement.database, statement.name, statement.options, catalog);
      return;
    case 'alter_retention_policy': {
      const name = knownPolicy(statement.database, statement.name, catalog);
      const { durationNs, isDefault } = statement.options;
      checkDuration(durationNs);
      const shardNs = shardDuration(statement.options);
      const retentionNs = durationNs ?? catalog.database(name)?.retentionNs;
      checkShard(retentionNs, shardNs ?? catalog.database(name)?.shardDurationNs);
      if (shardNs !== undefined) await catalog.setShardDuration(name, shardNs);
      if (durationNs !== undefined) await catalog.setRetention(name, durationNs || undefined);
      if (isDefault) await makeDefault(statement.database, statement.name, catalog);
      return;
    }
    case 'drop_retention_policy': {
      const name = policyDatabase(statement.database, statement.name);
      if (name === statement.database) {
        throw tsdbError(
          'plan_error',
          `retention policy "${statement.name}" cannot be dropped without its database; use DROP DATABASE`,
        );
      }
      if (catalog.database(name) === undefined) return;
      await catalog.deletions.deleteDatabase(name, DELETION);
      if (catalog.database(statement.database)?.defaultPolicy === statement.name) {
        await catalog.setDefaultPolicy(statement.database, undefined);
      }
      engine.removeDeletedSoon();
      return;
    }
    case 'drop_measurement':
      await dropMeasurement(statement.name, context);
      return;
    case 'delete':
    case 'drop_series':
      await deleteRows(statement, context);
      return;
    default:
      assertNever(statement);
  }
}

/** An unknown measurement has no effect, but the former name of a renamed one is an error. */
async function dropMeasurement(
  table: string,
  { env, catalog, engine }: SchemaContext,
): Promise<void> {
  const databases = withPolicies(databaseOf({}, env), catalog.databases());
  const having = databases.filter(({ tables }) => tables.has(table));
  const [renamedTo] = databases.flatMap(({ formerTables }) => formerTables?.get(table) ?? []);
  if (having.length === 0 && renamedTo !== undefined) throw renamedMeasurement(table, renamedTo);
  for (const { name: database } of having)
    await catalog.deletions.deleteTable({ database, table, hardDelete: DELETION });
  engine.removeDeletedSoon();
}

/**
 * Creates a database. Without NAME, the options apply to the database itself, which is the policy
 * `autogen`.
 */
async function createDatabase(
  name: string,
  policy: PolicyOptions,
  catalog: RelationalCatalog,
): Promise<void> {
  checkDuration(policy.durationNs);
  const known = catalog.database(name);
  if (known !== undefined) {
    if (Object.keys(policy).length > 0) checkSame(known, policy, catalog);
    return;
  }
  const isNamed = policy.name !== undefined && policyDatabase(name, policy.name) !== name;
  checkShard(policy.durationNs, shardDuration(policy));
  await created(catalog, name, isNamed ? {} : policy);
  if (!isNamed) return;
  await createPolicy(name, policy.name, { ...policy, isDefault: true }, catalog);
}

/**
 * Accepts an existing database unchanged, but rejects a policy that differs from its default
 * policy.
 */
function checkSame(known: DatabaseSchema, policy: PolicyOptions, catalog: RelationalCatalog): void {
  const database = policyDatabase(known.name, policy.name ?? 'autogen');
  const existing = catalog.database(database);
  const isDefault = database === policyDatabase(known.name, known.defaultPolicy ?? 'autogen');
  const isSame =
    policy.durationNs === undefined || policy.durationNs === (existing?.retentionNs ?? 0n);
  const shardNs = shardDuration(policy);
  const isSameShard = shardNs === undefined || shardNs === existing?.shardDurationNs;
  if (existing !== undefined && isDefault && isSame && isSameShard) return;
  throw tsdbError('plan_error', 'retention policy conflicts with an existing policy');
}

async function makeDefault(
  database: string,
  policy: string,
  catalog: RelationalCatalog,
): Promise<void> {
  const isItself = policyDatabase(database, policy) === database;
  await catalog.setDefaultPolicy(database, isItself ? undefined : policy);
}

async function created(
  catalog: RelationalCatalog,
  name: string,
  options: PolicyOptions,
): Promise<void> {
  try {
    await catalog.createDatabase(name, options.durationNs || undefined);
    const shardNs = shardDuration(options);
    if (shardNs !== undefined) await catalog.setShardDuration(name, shardNs);
  } catch (error) {
    // Another request created it in the meantime.
    if (!tsdbError.is(error, 'resource_exists') || catalog.database(name) === undefined)
      throw error;
  }
}

function checkDuration(durationNs: bigint | undefined): void {
  if (durationNs === undefined || durationNs === 0n || durationNs >= NS_PER_HOUR) return;
  throw tsdbError('plan_error', 'retention policy duration must be at least 1h0m0s');
}

/**
 * Returns `undefined` if the statement has no shard duration. Durations below an hour become one
 * hour.
 */
function shardDuration({ shardDurationNs }: PolicyOptions): bigint | undefined {
  if (!shardDurationNs) return undefined;
  return shardDurationNs < NS_PER_HOUR ? NS_PER_HOUR : shardDurationNs;
}

function checkShard(durationNs: bigint | undefined, shardNs: bigint | undefined): void {
  if (!durationNs || shardNs === undefined || durationNs >= shardNs) return;
  throw tsdbError(
    'plan_error',
    'retention policy duration must be greater than the shard duration',
  );
}

async function createPolicy(
  database: string,
  policy: string,
  options: PolicyOptions,
  catalog: RelationalCatalog,
): Promise<void> {
  if (catalog.database(database) === undefined) throw tsdbError('database_not_found', { database });
  if (policy === '') throw tsdbError('plan_error', 'retention policy name cannot be empty');
  checkDuration(options.durationNs);
  const shardNs = shardDuration(options);
  checkShard(options.durationNs, shardNs);
  const name = policyDatabase(database, policy);
  const known = catalog.database(name);
  if (known === undefined) {
    await created(catalog, name, options);
  } else if (
    (known.retentionNs ?? 0n) !== (options.durationNs ?? 0n) ||
    known.shardDurationNs !== shardNs
  ) {
    throw tsdbError('plan_error', 'retention policy already exists');
  }
  if (options.isDefault) await makeDefault(database, policy, catalog);
}

function knownPolicy(database: string, policy: string, catalog: RelationalCatalog): string {
  if (catalog.database(database) === undefined) throw tsdbError('database_not_found', { database });
  const name = policyDatabase(database, policy);
  if (policy === '' || catalog.database(name) === undefined)
    throw tsdbError('plan_error', `retention policy not found: ${policy}`);
  return name;
}

async function deleteRows(
  statement: DeleteRows,
  { env, session, engine, catalog }: SchemaContext,
): Promise<void> {
  const { rest, range } = splitCondition(statement.condition, {
    nowNs: session.nowNs,
    zone: undefined,
  });
  const isOfSeries = statement.kind === 'drop_series';
  if (isOfSeries && (range.min !== undefined || range.max !== undefined)) {
    throw tsdbError('plan_error', "DROP SERIES doesn't support time in WHERE clause");
  }
  const sources =
    statement.sources.length > 0
      ? statement.sources
      : [{ kind: 'measurement', name: { kind: 'regex', source: '' } } satisfies Measurement];
  const tablesOf = (measurement: Measurement) =>
    policiesOf(measurement, env, catalog).flatMap((database) =>
      tablesIn(database, measurement.name, env),
    );
  const found = sources.flatMap(tablesOf);
  const { fields } = statement;
  const names = [...(fields ?? []), ...(rest === undefined ? [] : namesIn(rest))];
  for (const { table } of found) refuseFormerColumns(table, names);
  const filters = rest === undefined ? undefined : filtersOf(rest, found);
  const isByValue = !isOfSeries && filters?.some(readsFields) === true;
  if (rest !== undefined && !isByValue) checkTagCondition(rest);
  // Build all conditions before deleting any row, so that an invalid condition of any table
  // rejects the statement.
  await session.indexed(found.map(({ table }) => table));
  const task = new TimeSlicedTask(session);
  const [minNs, maxNs] = [range.min ?? MIN_TIME_NS, range.max ?? MAX_TIME_NS];
  const deletions: DeleteRowsRequest[] = [];
  const byValue: (() => Promise<void>)[] = [];
  for (const [i, source] of found.entries()) {
    const filter = filters?.[i];
    if (isByValue && filter !== undefined && readsFields(filter)) {
      byValue.push(() =>
        deletePoints(source, { filter, minNs, maxNs, fields }, { session, engine }),
      );
      continue;
    }
    const index = session.seriesOf(source.table);
    deletions.push({
      database: source.database.name,
      tables: [source.name],
      fields,
      minTimeNs: minNs,
      maxTimeNs: maxNs,
      anyOf: await task.run(alternatives(filter, (tag) => index.tagValues(tag))),
    });
  }
  for (const deletion of deletions) await engine.deleteRows(deletion);
  for (const deletePointsOfTable of byValue) await deletePointsOfTable();
}

/**
 * Returns one filter per table. If a table lacks a field that another table has, the field is NULL
 * there, as in SELECT.
 */
function filtersOf(condition: Expr, found: readonly TableSource[]): readonly Filter[] {
  const all = mergedColumns(found);
  return found.map((source) => {
    const { fields, tags } = columnsOf(source);
    const missing = [...all.fields].filter(([name]) => !fields.has(name) && !tags.has(name));
    const columns: SourceColumns = { fields: new Map([...fields, ...missing]), tags };
    return buildFilter(condition, columns);
  });
}

/**
 * Returns the policies that a deletion affects: all policies of the database, as in 1.x, or the
 * named policy. InfluxDB 1.x rejects a named policy; an existing one is accepted here. Unlike in
 * queries, its letter case must match: `"Autogen"` is not `autogen`, whose rows would be lost.
 */
function policiesOf(
  measurement: Measurement,
  env: Environment,
  catalog: RelationalCatalog,
): readonly DatabaseSchema[] {
  const { policy, ...withoutPolicy } = measurement;
  if (policy === undefined) return withPolicies(databaseOf(measurement, env), catalog.databases());
  const owner = databaseOf({ ...withoutPolicy, policy: 'autogen' }, env);
  const named = policy === '' ? undefined : catalog.database(policyDatabase(owner.name, policy));
  if (named !== undefined) return [named];
  throw tsdbError(
    'plan_error',
    `retention policy not supported: database "${owner.name}" has no policy "${policy}"`,
  );
}
