import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { quoteName, quoteString, timestampLiteral } from '@plinth/tsdb-model/text/quote.js';

/**
 * A source of rows of a table, as SQL text. Every source has `_series`, `"time"` and the field
 * columns that it names. A row of a `unique` source is a point that no other unique source
 * contains. Rows of a `may_repeat` source are writes of points that other sources may contain, too. Of
 * two writes of a point, the later one has the greater (`_seq`, order).
 */
export interface Source {
  readonly kind: 'unique' | 'may_repeat';
  /** SQL text for FROM. */
  readonly from: string;
  /** Expression for the write order among rows with the same `_seq`. */
  readonly order: string;
  readonly where: string | undefined;
  /** By the id of a field: the condition on rows whose value of this field was deleted. */
  readonly deletedValues?: ReadonlyMap<number, string>;
  readonly hasColumn: (columnId: number) => boolean;
  readonly minTime: bigint;
  readonly maxTime: bigint;
}

export function parquetFrom(paths: readonly string[]): string {
  return `read_parquet([${paths.map(quoteString).join(', ')}], hive_partitioning = false)`;
}

/** Files with different columns: rows of a file without a column have NULL. */
export function mixedParquetFrom(paths: readonly string[]): string {
  return `read_parquet([${paths.map(quoteString).join(', ')}], hive_partitioning = false, union_by_name = true)`;
}

/** Returns one file with the additional column `file_row_number`. */
export function parquetWithRowNumbersFrom(path: string): string {
  return `read_parquet(${quoteString(path)}, hive_partitioning = false, file_row_number = true)`;
}

export function tableFrom(name: string): string {
  return quoteName(name);
}

/** Returns the SELECT expression for a stored field, which is NULL where its value was deleted. */
export function valueText(
  { id, physicalName }: Pick<Column, 'id' | 'physicalName'>,
  deletedValues: ReadonlyMap<number, string> | undefined,
): string {
  const name = quoteName(physicalName);
  const deletedText = deletedValues?.get(id);
  return deletedText === undefined
    ? name
    : `CASE WHEN ${deletedText} THEN NULL ELSE ${name} END AS ${name}`;
}

/** Returns the condition for rows between two timestamps, both inclusive. */
export function timeCondition(minTime: bigint, maxTime: bigint): string {
  return `"time" >= ${timestampLiteral(minTime)} AND "time" <= ${timestampLiteral(maxTime)}`;
}
