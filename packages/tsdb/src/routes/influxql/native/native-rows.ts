import type { Statement } from '@plinth/tsdb-influxql/ast/statements.js';
import type { Value } from '@plinth/tsdb-influxql/plan/data-type.js';
import { type StatementResult, seriesOf } from '@plinth/tsdb-influxql/result.js';
import {
  type OutputColumn,
  type ResultChunk,
  type ResultStream,
  validityOf,
} from '@plinth/tsdb-model/columns/result.js';
import { outputOf } from '../result-chunks.js';

const NAME_COLUMN: OutputColumn = {
  name: 'iox::measurement',
  type: { kind: 'utf8' },
  tableColumnKind: undefined,
};

/**
 * Converts a result to native rows: `iox::measurement` first, grouping tags as columns. Source:
 * tsdb-http, §7.5.
 */
export function nativeRows(result: StatementResult, statement: Statement): ResultStream {
  const isSelect = statement.kind === 'select';
  const selected = new Set(result.columns.map(({ name }) => name));
  const tags = result.tagNames.flatMap((name, index) =>
    selected.has(name) ? [] : [{ name, index }],
  );
  const [first, ...rest] = result.columns;
  const lead = isSelect && first !== undefined ? [first] : [];
  const others = isSelect ? rest : result.columns;
  // The column names of these statements already describe the listed objects.
  const hasName =
    statement.kind !== 'show_databases' && statement.kind !== 'show_retention_policies';
  const columns: OutputColumn[] = [
    ...(hasName ? [NAME_COLUMN] : []),
    ...lead.map((column) => outputOf(column, result.zone)),
    ...tags.map(
      ({ name }): OutputColumn => ({ name, type: { kind: 'tag' }, tableColumnKind: 'tag' }),
    ),
    ...others.map((column) => outputOf(column, result.zone)),
  ];
  return {
    columns,
    tableName: undefined,
    chunks: chunksOf(result, {
      tags: tags.map(({ index }) => index),
      leadCount: lead.length,
      hasName,
    }),
  };
}

async function* chunksOf(
  result: StatementResult,
  options: {
    readonly tags: readonly number[];
    readonly leadCount: number;
    readonly hasName: boolean;
  },
): AsyncGenerator<ResultChunk, void, undefined> {
  for await (const { name, tags, rowCount, columns } of seriesOf(result)) {
    const constant = (value: string | null): ArrayLike<Value> =>
      new Array<Value>(rowCount).fill(value);
    const all: ArrayLike<Value>[] = [
      ...(options.hasName ? [constant(name)] : []),
      ...columns.slice(0, options.leadCount),
      ...options.tags.map((index) => constant(tags[index] || null)),
      ...columns.slice(options.leadCount),
    ];
    yield {
      rowCount,
      columns: all.map((values) => ({
        values: storable(values, rowCount),
        validity: validityOf(values, rowCount),
      })),
    };
  }
}

/** Converts booleans to 0 and 1, as in chunks. */
function storable(values: ArrayLike<Value>, rowCount: number): ArrayLike<unknown> {
  if (!Array.isArray(values)) return values;
  for (let row = 0; row < rowCount; row++) {
    if (typeof values[row] === 'boolean')
      return Array.from(values, (value) => (value === true ? 1 : 0));
    if (values[row] !== null) break;
  }
  return values;
}
