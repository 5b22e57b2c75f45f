import { assertNever } from '@plinth/kernel';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { EncodedTagsCache } from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type { SeriesIndex } from '../series/series-index.js';
import { isCacheableKind } from './cache/cached-rows.js';
import { computeGroups } from './groups/compute-groups.js';
import type { LoadedRows } from './load/loaded-rows.js';
import { computeLastRows } from './rows/compute-last-rows.js';
import { computeRows } from './rows/compute-rows.js';

/**
 * Computes a result from loaded rows. `undefined` means that DuckDB is faster, or that only DuckDB is exact. The
 * loaded rows must not change during the call.
 * @param loaded unique points only: each point occurs once.
 */
export async function computeFromColumns(
  request: ColumnQuery,
  loaded: readonly LoadedRows[],
  options: {
    readonly index: SeriesIndex;
    /** Series ordinals of the series that meet the tag conditions; `undefined` means all. */
    readonly series: readonly number[] | undefined;
    /** The tags of series as bytes of an output format (JSON), cached between results. */
    readonly encodedTags: EncodedTagsCache;
    /** Work stops when its signal is aborted. */
    readonly queryContext: Pick<QueryContext, 'signal'> | undefined;
  },
): Promise<Iterable<ResultChunk> | undefined> {
  const { computation } = request;
  const { index, series, encodedTags, queryContext } = options;
  const columnRequest = { request, loaded, index, series, queryContext };
  switch (computation.kind) {
    case 'groups':
      return await computeGroups({ ...columnRequest, computation });
    case 'rows':
      return await computeRows({ ...columnRequest, computation });
    case 'last':
      return await computeLastRows({ ...columnRequest, computation, encodedTags });
    default:
      return assertNever(computation);
  }
}

/**
 * Returns the fields whose values are read; `undefined` if one of them cannot be kept in memory.
 */
export function fieldsOf({
  computation,
  fieldConditions,
}: ColumnQuery): readonly Column[] | undefined {
  const fields = new Map<number, Column>();
  const columns =
    computation.kind === 'groups'
      ? computation.outputs.map((output) => ('column' in output ? output.column : undefined))
      : computation.columns;
  for (const column of [...columns, ...fieldConditions.map((condition) => condition.column)])
    if (column !== undefined && column.kind !== 'tag' && column.kind !== 'time')
      fields.set(column.id, column);
  const all = [...fields.values()];
  return all.every((field) => isCacheableKind(field.kind)) ? all : undefined;
}
