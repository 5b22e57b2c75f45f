import { isPlainText } from '@plinth/kernel';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { MAX_NAME_LENGTH } from '@plinth/tsdb-model/database/limits.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import {
  type DistinctCacheDefinition,
  defaultName,
  type LastCacheDefinition,
} from './cache-definitions.js';

interface CacheOf {
  readonly database: string;
  readonly table: string;
  /** `undefined` derives the name from the table and the columns. */
  readonly name: string | undefined;
}

export interface NewLastCache extends CacheOf {
  /** `undefined` selects the tags of the table. */
  readonly keyColumns: readonly string[] | undefined;
  readonly valueColumns: readonly string[] | undefined;
  readonly count: number | undefined;
  readonly ttlSec: number | undefined;
}

export interface NewDistinctCache extends CacheOf {
  readonly columns: readonly string[];
  readonly maxCardinality: number | undefined;
  readonly maxAgeSec: number | undefined;
}

/** Throws `cache_definition_invalid`. */
export function defineLastCache(
  schema: TableSchema,
  newCache: NewLastCache,
): Omit<LastCacheDefinition, 'id'> {
  const keys = (newCache.keyColumns ?? schema.seriesKey).map((name) => {
    const column = schema.columns.get(name);
    if (column === undefined) throw invalidConfiguration(`invalid key column provided: ${name}`);
    if (column.kind === 'float64' || column.kind === 'time') {
      throw tsdbError(
        'cache_definition_invalid',
        'only uint64, int64, bool, tag, and string columns are supported in the last cache',
      );
    }
    return column;
  });
  const values = newCache.valueColumns?.map((name) => {
    const column = schema.columns.get(name);
    if (column === undefined) throw invalidConfiguration(`invalid value column provided: ${name}`);
    return column;
  });
  assertDistinct(keys, 'key');
  const name = givenName(newCache) ?? defaultName(schema.name, names(keys), 'last');
  return {
    kind: 'last',
    tableId: schema.id,
    name,
    keyColumnIds: ids(keys),
    valueColumnIds: values && ids([...new Set(values)].filter(({ kind }) => kind !== 'time')),
    count: newCache.count ?? 1,
    ttlSec: newCache.ttlSec ?? 14_400,
  };
}

/** Throws `cache_definition_invalid`. */
export function defineDistinctCache(
  schema: TableSchema,
  newCache: NewDistinctCache,
): Omit<DistinctCacheDefinition, 'id'> {
  if (newCache.columns.length === 0) {
    throw invalidConfiguration('no columns provided when creating distinct cache');
  }
  const columns = newCache.columns.map((name) => {
    const column = schema.columns.get(name);
    if (column === undefined) throw invalidConfiguration(`invalid column provided: ${name}`);
    if (column.kind !== 'tag' && column.kind !== 'utf8') {
      throw tsdbError(
        'cache_definition_invalid',
        'only tag and string columns are supported in the distinct cache',
      );
    }
    return column;
  });
  assertDistinct(columns, 'distinct');
  return {
    kind: 'distinct',
    tableId: schema.id,
    name: givenName(newCache) ?? defaultName(schema.name, names(columns), 'distinct'),
    columnIds: ids(columns),
    maxCardinality: newCache.maxCardinality ?? 100_000,
    maxAgeSec: newCache.maxAgeSec ?? 86_400,
  };
}

function givenName({ name }: CacheOf): string | undefined {
  if (name === undefined) return undefined;
  if (!isPlainText(name))
    throw invalidConfiguration('the name contains control characters or an unpaired surrogate');
  if (name.length > MAX_NAME_LENGTH)
    throw invalidConfiguration(`the name has more than ${MAX_NAME_LENGTH} characters`);
  return name;
}

const ids = (columns: readonly Column[]): readonly number[] => columns.map(({ id }) => id);
const names = (columns: readonly Column[]): readonly string[] => columns.map(({ name }) => name);

function assertDistinct(columns: readonly Column[], what: string): void {
  const repeated = columns.find((column, i) => columns.indexOf(column) !== i);
  if (repeated !== undefined)
    throw invalidConfiguration(`${what} column provided twice: ${repeated.name}`);
}

export function invalidConfiguration(message: string): TsdbError<'cache_definition_invalid'> {
  return tsdbError('cache_definition_invalid', `invalid configuration provided: ${message}`);
}
