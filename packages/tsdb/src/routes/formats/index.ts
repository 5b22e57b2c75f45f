import { CSV, CSV_EXACT } from './csv.js';
import type { TextFormat } from './encoder.js';
import { createRowFormats } from './json/json-rows.js';
import { JSON_SERIES } from './json/json-series.js';
import { PRETTY } from './pretty.js';

export type FormatName =
  | 'json_series'
  | 'json_rows'
  | 'jsonl'
  | 'csv'
  | 'csv_exact'
  | 'pretty'
  | 'parquet'
  | 'arrow';

/** All text formats. Parquet is written by DuckDB, and Arrow has its own encoder. */
export type TextFormats = Readonly<Record<Exclude<FormatName, 'parquet' | 'arrow'>, TextFormat>>;

/** Creates the formats. They cache the prepared columns of statements. */
export function createTextFormats(): TextFormats {
  const { rows, lines } = createRowFormats();
  return {
    json_series: JSON_SERIES,
    json_rows: rows,
    jsonl: lines,
    csv: CSV,
    csv_exact: CSV_EXACT,
    pretty: PRETTY,
  };
}

export const PARQUET_TYPE = 'application/vnd.apache.parquet';
export const ARROW_TYPE = 'application/vnd.apache.arrow.stream';
