import { assertNever } from '@plinth/kernel';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { databaseOfPolicy } from '@plinth/tsdb-model/database/names.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { NS_PER_HOUR } from '@plinth/tsdb-model/time/calendar.js';
import type { Expr } from '../ast/expressions.js';
import type { Measurement } from '../ast/select.js';
import type { ShowClauses, ShowStatement, ShowTagValues, TagKeyFilter } from '../ast/statements.js';
import { ValueBudget } from '../execute/value-budget.js';
import { databaseOf, tablesIn, withPolicies } from '../plan/compile/find-sources.js';
import { assertPresentNames } from '../plan/compile/former-names.js';
import type { TableSource } from '../plan/compile/source.js';
import { type SplitCondition, splitCondition } from '../plan/condition/split-condition.js';
import type { Environment } from '../plan/environment.js';
import {
  EMPTY_RESULT,
  type ListPiece,
  listResult,
  type ResultColumn,
  type StatementResult,
  streamedResult,
  textColumn,
} from '../result.js';
import type { ShownQuery } from '../running-queries.js';
import { fieldsOf, type NamedTables, runCardinality } from './cardinality.js';
import { FoundValues } from './found-values.js';
import { goDuration } from './go-duration.js';
import { keyTest, namedKeys } from './key-test.js';
import { hasRows, matchingSeries, type SeriesReading, tagKeys } from './matching-series.js';
import { measurementTest } from './measurement-test.js';
import { seriesKeys } from './series-keys.js';
import { type ServerDiagnostics, showServer } from './show-server.js';
import { showShards } from './show-shards.js';
import { pickedCount } from './smallest-texts.js';

export interface ShowContext {
  readonly env: Environment;
  readonly reading: SeriesReading;
  databases(): readonly DatabaseSchema[];
  queries(): readonly ShownQuery[];
  /** Absent if SHOW STATS and SHOW DIAGNOSTICS are not available. */
  readonly diagnostics: ServerDiagnostics | undefined;
}

/** Runs a SHOW statement. Source: query-languages, "SHOW statements: results". */
export async function runShow(show: ShowStatement, context: ShowContext): Promise<StatementResult> {
  const { env } = context;
  switch (show.kind) {
    case 'show_databases':
      return listResult(
        [textColumn('name')],
        [
          {
            name: 'databases',
            rows: databaseNames(context).map((name) => [name]),
          },
        ],
      );
    case 'show_retention_policies':
      return showPolicies(
        databaseOf(
          {
            policy: 'autogen',
            ...(show.database !== undefined && { database: show.database }),
          },
          env,
        ),
        context,
      );
    case 'show_measurements':
      return await showMeasurements(show, context);
    case 'show_tag_keys':
      return await showTagKeys(show, context);
    case 'show_field_keys':
      return await showFieldKeys(show, context);
    case 'show_tag_values':
      return await showTagValues(show, context);
    case 'show_series': {
      const measurements = await liveMeasurements(show, context);
      const sources = measurements.flatMap(({ tables }) => tables);
      return streamedResult(
        [textColumn('key')],
        seriesPieces(seriesKeys(show, sources, context.reading)),
      );
    }
    case 'show_cardinality':
      return await runCardinality(show, await liveMeasurements(show, context), context.reading);
    case 'show_queries':
      return listResult(
        [
          { name: 'qid', type: 'integer' },
          textColumn('query'),
          textColumn('database'),
          textColumn('duration'),
          textColumn('status'),
        ],
        [
          {
            name: '',
            rows: context
              .queries()
              .map(({ id, text: query, database, durationMs }) => [
                BigInt(id),
                query,
                database,
                durationText(durationMs),
                'running',
              ]),
          },
        ],
      );
    case 'show_server':
      return context.diagnostics === undefined
        ? EMPTY_RESULT
        : await showServer(show, context.diagnostics);
    case 'show_shards': {
      const { diagnostics } = context;
      if (diagnostics === undefined) return EMPTY_RESULT;
      return showShards(context.databases(), (table) => diagnostics.storageOf(table), show);
    }
    case 'show_nothing':
      return EMPTY_RESULT;
    default:
      return assertNever(show);
  }
}

/** Returns the databases that are not retention policies of another database. */
export const databaseNames = (context: Pick<ShowContext, 'databases'>): string[] =>
  context
    .databases()
    .map(({ name }) => name)
    .filter((name) => databaseOfPolicy(name) === undefined);

function durationText(ms: number): string {
  return ms < 1000 ? `${Math.floor(ms)}ms` : `${Math.floor(ms / 1000)}s`;
}

export function cut<T>(
  rows: readonly T[],
  { limit, offset }: Pick<ShowClauses, 'limit' | 'offset'>,
): readonly T[] {
  const from = offset ?? 0;
  return limit === undefined || limit === 0 ? rows.slice(from) : rows.slice(from, from + limit);
}

type KeyedClauses = ShowClauses & { readonly keys?: TagKeyFilter };

/**
 * Returns the tables that a statement names, or all tables of the database, sorted by name and then
 * by policy. For v1 clients, it searches all policies unless the statement names one.
 */
function tablesOf(
  show: KeyedClauses,
  { env, databases }: Pick<ShowContext, 'env' | 'databases'>,
): TableSource[] {
  const named: readonly Measurement[] =
    show.sources.length > 0
      ? show.sources
      : [{ kind: 'measurement', name: { kind: 'regex', source: '' } }];
  const tables = new Map<number, TableSource>();
  for (const { name, ...at } of named) {
    const isElsewhere = at.database !== undefined;
    const database = at.database ?? show.database;
    const policy = at.policy ?? (isElsewhere ? undefined : show.policy);
    const found = {
      ...(database !== undefined && { database }),
      ...(policy !== undefined && { policy }),
    };
    for (const each of databasesOf(found, { env, databases })) {
      for (const source of tablesIn(each, name, env)) tables.set(source.table.id, source);
    }
  }
  const keys = show.keys === undefined ? [] : namedKeys(show.keys);
  assertPresentNames([show.condition, ...keys], [...tables.values()]);
  return [...tables.values()].sort((a, b) => compareByteOrder(a.name, b.name));
}

/** Returns the named database or, for v1 clients without a policy, all policies of a database. */
function databasesOf(
  options: { readonly database?: string; readonly policy?: string },
  { env, databases }: Pick<ShowContext, 'env' | 'databases'>,
): readonly DatabaseSchema[] {
  const policy = options.policy ?? (options.database === undefined ? env.policy : undefined) ?? '';
  if (!env.usesDefaultPolicies || policy !== '') return [databaseOf(options, env)];
  return withPolicies(databaseOf({ ...options, policy: 'autogen' }, env), databases());
}

/**
 * Groups tables of one name in several policies into one measurement. Tables whose rows were all
 * deleted are omitted.
 */
async function liveMeasurements(
  show: KeyedClauses,
  context: Pick<ShowContext, 'env' | 'reading' | 'databases'>,
): Promise<NamedTables[]> {
  const live = new Map<string, TableSource[]>();
  const { session, task } = context.reading;
  for (const source of tablesOf(show, context)) {
    await task.yieldIfDue();
    if (!(await hasRows(source, session))) continue;
    const known = live.get(source.name);
    if (known === undefined) live.set(source.name, [source]);
    else known.push(source);
  }
  return [...live].map(([name, tables]) => ({ name, tables }));
}

const WEEK_NS = 168n * NS_PER_HOUR;

function showPolicies(database: DatabaseSchema, { databases }: ShowContext): StatementResult {
  const prefix = `${database.name}/`;
  const isThere = databases().some(({ name }) => name === prefix + database.defaultPolicy);
  const defaultPolicy = isThere ? database.defaultPolicy : 'autogen';
  const policies = [
    { name: 'autogen', schema: database },
    ...databases()
      .filter(({ name }) => name.startsWith(prefix))
      .sort((a, b) => a.id - b.id)
      .map((schema) => ({ name: schema.name.slice(prefix.length), schema })),
  ];
  const columns: ResultColumn[] = [
    textColumn('name'),
    textColumn('duration'),
    textColumn('shardGroupDuration'),
    { name: 'replicaN', type: 'integer' },
    { name: 'default', type: 'boolean' },
  ];
  const rows = policies.map(({ name, schema }) => [
    name,
    goDuration(schema.retentionNs ?? 0n),
    goDuration(schema.shardDurationNs ?? shardDurationNs(schema.retentionNs)),
    1n,
    name === defaultPolicy,
  ]);
  return listResult(columns, [{ name: 'retention_policies', rows }]);
}

/** Returns the shard duration that InfluxDB 1.x chooses for a retention period. */
function shardDurationNs(retentionNs: bigint | undefined): bigint {
  if (retentionNs === undefined || retentionNs > 180n * 24n * NS_PER_HOUR) return WEEK_NS;
  return retentionNs >= 48n * NS_PER_HOUR ? 24n * NS_PER_HOUR : NS_PER_HOUR;
}

async function showMeasurements(
  show: Extract<ShowStatement, { kind: 'show_measurements' }>,
  context: ShowContext,
): Promise<StatementResult> {
  const { filter } = show;
  const all = await liveMeasurements(
    filter === undefined
      ? show
      : {
          ...show,
          sources: [filter],
          ...(filter.database !== undefined && { database: filter.database }),
        },
    context,
  );
  const names: string[] = [];
  for (const { name, tables } of all) {
    if (show.condition === undefined || (await hasMatch(tables, show.condition, context))) {
      names.push(name);
    }
  }
  return listResult(
    [textColumn('name')],
    [{ name: 'measurements', rows: cut(names, show).map((name) => [name]) }],
  );
}

async function hasMatch(
  tables: readonly TableSource[],
  condition: Expr,
  { env, reading }: ShowContext,
): Promise<boolean> {
  const { session, task } = reading;
  const test = env.usesDefaultPolicies ? measurementTest(condition) : undefined;
  if (test !== undefined) {
    const found = new FoundValues();
    for (const source of tables)
      await found.add(source, (key) => test.tags.has(key), { split: UNCONDITIONAL, reading });
    return await task.run(test.isMet((tag, take) => found.each(tag, take)));
  }
  const split = splitCondition(condition, { nowNs: session.nowNs, zone: undefined });
  for (const source of tables) {
    for await (const _ of matchingSeries(source, split, reading)) return true;
  }
  return false;
}

const UNCONDITIONAL: SplitCondition = {
  rest: undefined,
  range: { min: undefined, max: undefined },
};

async function showTagKeys(
  show: Extract<ShowStatement, { kind: 'show_tag_keys' }>,
  context: ShowContext,
): Promise<StatementResult> {
  const lists = [];
  for (const { name, tables } of await liveMeasurements(show, context)) {
    const found = new Set<string>();
    for (const source of tables) {
      const { condition } = show;
      const keys =
        condition === undefined ? tagKeys(source) : await usedTags(source, condition, context);
      for (const key of keys) found.add(key);
    }
    const keys = [...found].sort(compareByteOrder);
    lists.push({ name, rows: cut(keys, show).map((key) => [key]) });
  }
  return listResult([textColumn('tagKey')], lists);
}

/** Returns the tags that have a value in a series that meets a condition. */
async function usedTags(
  source: TableSource,
  condition: Expr,
  { reading }: ShowContext,
): Promise<readonly string[]> {
  const { session } = reading;
  const split = splitCondition(condition, { nowNs: session.nowNs, zone: undefined });
  const missing = new Set(tagKeys(source));
  const used: string[] = [];
  for await (const batch of matchingSeries(source, split, reading)) {
    const index = session.seriesOf(source.table);
    for (const key of missing) {
      if (!batch.some((ordinal) => index.tagCode(ordinal, key) !== 0)) continue;
      missing.delete(key);
      used.push(key);
    }
    if (missing.size === 0) break;
  }
  return used;
}

async function showFieldKeys(
  show: Extract<ShowStatement, { kind: 'show_field_keys' }>,
  context: ShowContext,
): Promise<StatementResult> {
  const lists = (await liveMeasurements(show, context)).map(({ name, tables }) => ({
    name,
    rows: cut(fieldsOf(tables), show).map(({ name: field, type }) => [field, type]),
  }));
  return listResult([textColumn('fieldKey'), textColumn('fieldType')], lists);
}

async function showTagValues(show: ShowTagValues, context: ShowContext): Promise<StatementResult> {
  const measurements = await liveMeasurements(show, context);
  return streamedResult(
    [textColumn('key'), textColumn('value')],
    valuePieces(show, measurements, context.reading),
  );
}

/** Maximum number of rows per piece of a long list. */
const PIECE_ROWS = 2048;

/** Yields pieces, with the values of only one key of a measurement in memory at a time. */
async function* valuePieces(
  show: ShowTagValues,
  measurements: readonly NamedTables[],
  reading: SeriesReading,
): AsyncGenerator<ListPiece> {
  const isWanted = keyTest(show.keys);
  const { session, task } = reading;
  const split = splitCondition(show.condition, { nowNs: session.nowNs, zone: undefined });
  for (const { name, tables } of measurements) {
    const found = new FoundValues();
    for (const source of tables) await found.add(source, isWanted, { split, reading });
    for (const key of found.keys) {
      const budget = new ValueBudget(session);
      const sorted = await task.run(found.sorted(key, pickedCount(show), budget));
      // LIMIT and OFFSET apply to each key of a table.
      const values = cut(sorted, show);
      for (let from = 0; from < values.length; from += PIECE_ROWS) {
        const piece = values.slice(from, from + PIECE_ROWS);
        yield { name, columns: [piece.map(() => key), piece] };
      }
    }
  }
}

async function* seriesPieces(keys: AsyncIterable<readonly string[]>): AsyncGenerator<ListPiece> {
  for await (const piece of keys) yield { name: '', columns: [piece] };
}
