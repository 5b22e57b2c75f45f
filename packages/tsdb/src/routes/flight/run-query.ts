import type { ParameterValue } from '../../domain/sql/planned-query.js';
import { arrowFieldOf, type KeyValuePair } from '../arrow/arrow-field.js';
import type { FlightDeps } from '../deps.js';
import { type NativeAnswer, openNative, rowsOf } from '../influxql/native/open-native.js';
import type { ArrowStream } from './send-stream.js';
import type { QueryLanguage } from './ticket.js';

export interface FlightQuery {
  readonly database: string;
  readonly language: QueryLanguage;
  readonly text: string;
  readonly params: ReadonlyMap<string, ParameterValue>;
}

/** Begins a query; its rows are computed as the stream is read. */
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

/** An answer in InfluxQL, of which perhaps only the columns are wanted; then it is given up. */
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
 * Which columns tell the series of a row: of every statement, since clients that make tables of an
 * answer look for it without knowing what was asked. Source: tsdb-http, §20.2.
 */
function groupKeyOf({ statement, result }: NativeAnswer): readonly KeyValuePair[] {
  const tag_key_columns = statement.kind === 'select' ? tagKeyColumnsOf(result) : [];
  return [[GROUP_KEY, JSON.stringify({ measurement_column_index: 0, tag_key_columns })]];
}

function tagKeyColumnsOf({ columns, tagNames }: NativeAnswer['result']) {
  const selected = columns.map(({ name }) => name);
  const projected = new Set(selected);
  let next = 2; // Behind the measurement and the time.
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
