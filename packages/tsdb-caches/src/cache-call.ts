import { renamedHint, type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { CacheDefinition } from './cache-definitions.js';

/** A cache function call in a query. */
export interface CacheCall {
  readonly kind: CacheDefinition['kind'];
  readonly schema: TableSchema;
  /** `undefined` selects the only cache of the table. */
  readonly cache: string | undefined;
}

/**
 * Parses `last_cache('table'[, 'cache'])` and `distinct_cache(...)`. Returns `undefined` for other
 * functions. Throws `plan_error`.
 */
export function readCacheCall(
  database: DatabaseSchema,
  name: string,
  args: readonly ParameterValue[],
): CacheCall | undefined {
  if (name !== 'last_cache' && name !== 'distinct_cache') return undefined;
  const kind = name === 'last_cache' ? 'last' : 'distinct';
  const [table, cache] = args;
  if (typeof table !== 'string')
    throw planning('first argument must be the table name as a string');
  if (args.length > 2 || (cache !== undefined && typeof cache !== 'string')) {
    throw planning('second argument, if passed, must be the cache name as a string');
  }
  const schema = database.tables.get(table);
  if (schema === undefined) {
    const hint = renamedHint(database.formerTables?.get(table));
    throw planning(
      kind === 'last'
        ? `provided table name is invalid${hint}`
        : `provided table name (${table}) is invalid${hint}`,
    );
  }
  return { kind, schema, cache };
}

export function noSuchCache(kind: CacheDefinition['kind']): TsdbError<'plan_error'> {
  return planning(
    kind === 'last'
      ? 'could not find cache for the given arguments'
      : 'could not find distinct value cache for the given arguments',
  );
}

function planning(message: string): TsdbError<'plan_error'> {
  return tsdbError('plan_error', `Error during planning: ${message}`);
}
