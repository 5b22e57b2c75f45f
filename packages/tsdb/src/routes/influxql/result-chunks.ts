import { sqlTypeOf } from '@plinth/tsdb-influxql/execute/series/table-reader.js';
import type { Value } from '@plinth/tsdb-influxql/plan/data-type.js';
import type { ResultBlock, ResultColumn } from '@plinth/tsdb-influxql/result.js';
import { DictionaryTexts } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { ColumnVector, OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';

/** Converts a result column of InfluxQL to an output column. */
export function outputOf(
  { name, type, tableColumnKind }: ResultColumn,
  zone: string | undefined,
): OutputColumn {
  const sqlType = sqlTypeOf(type);
  const isZoned = sqlType.kind === 'timestamp' && zone !== undefined && zone !== 'UTC';
  return { name, type: isZoned ? { ...sqlType, zone } : sqlType, tableColumnKind };
}

/**
 * Converts the columns of a block for the formats. Vectors are passed through; other columns are
 * built from values.
 */
export function chunkOf(
  block: Pick<ResultBlock, 'columns' | 'vectors' | 'series'>,
): Pick<ResultChunk, 'columns' | 'series'> {
  const { vectors, series } = block;
  const columns =
    vectors === undefined
      ? block.columns.map(vectorOf)
      : vectors.map((vector, i) => vector ?? vectorOf(block.columns[i] ?? []));
  return { columns, series };
}

const vectorOf = (values: ArrayLike<Value>): ColumnVector =>
  values instanceof DictionaryTexts ? values.of : { values, validity: undefined };
