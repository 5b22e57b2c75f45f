import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import { arrowFieldOf, type KeyValuePair } from '../arrow/arrow-field.js';
import type { FlightDeps } from '../deps.js';
import { type NativeResult, openNative, rowsOf } from '../influxql/native/open-native.js';
import type { ArrowStream } from './send-stream.js';
import type { QueryLanguage } from './ticket.js';

export interface FlightQuery {
  readonly database: string;
  readonly language: QueryLanguage;
  readonly text: string;
  readonly params: ReadonlyMap<string, ParameterValue>;
}

/** Starts a query. Rows are computed as the stream is read. */
export async function runQuery(
  query: FlightQuery,
  deps: FlightDeps,
  signal: AbortSignal,
): Promise<ArrowStream> {
  if (query.language === 'influxql') return await openInfluxql(query, deps, signal);
  const result = await deps.engine.query({
    ...query,
    language: 'sql',
    access: deps.access,
    signal,
  });
  return { fields: result.columns.map(arrowFieldOf), metadata: [], chunks: result.chunks };
}

/** Opens an InfluxQL result. Callers that need only the columns call `giveUp`. */
export async function openInfluxql(
  query: FlightQuery,
  deps: FlightDeps,
  signal: AbortSignal,
): Promise<ArrowStream & { giveUp(): void }> {
  const opened = await openNative({ ...query, access: deps.access }, deps, signal);
  const { columns, chunks } = rowsOf(opened);
  return {
    fields: columns.map(arrowFieldOf),
    metadata: groupKeyOf(opened),
    chunks,
    giveUp: () => opened.run.end('success'),
  };
}

const GROUP_KEY = 'iox::influxql::group_key::metadata';

/**
 * Returns metadata with the columns that identify a row's series. All statements have it, because clients that convert
 * results to tables require it. Source: tsdb-http, §20.2.
 */
function groupKeyOf({ statement, result }: NativeResult): readonly KeyValuePair[] {
  const tag_key_columns = statement.kind === 'select' ? tagKeyColumnsOf(result) : [];
  return [[GROUP_KEY, JSON.stringify({ measurement_column_index: 0, tag_key_columns })]];
}

function tagKeyColumnsOf({ columns, tagNames }: NativeResult['result']) {
  const selected = columns.map(({ name }) => name);
  const projected = new Set(selected);
  let next = 2; // after the measurement and the time
  const tagKeyColumns = tagNames.map((tag_key) => {
    const is_projected = projected.has(tag_key);
    if (!is_projected) return { tag_key, column_index: next++, is_projected };
    return { tag_key, column_index: -1, is_projected };
  });
  const groupCount = next - 2;
  for (const column of tagKeyColumns) {
    if (column.is_projected)
      column.column_index = selected.indexOf(column.tag_key) + 1 + groupCount;
  }
  return tagKeyColumns;
}
