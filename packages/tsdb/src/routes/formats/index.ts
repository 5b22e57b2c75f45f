import { CSV } from './csv.js';
import type { TextFormat } from './encoder.js';
import { JSON_LINES, JSON_ROWS } from './json-rows.js';
import { JSON_SERIES } from './json-series.js';
import { PRETTY } from './pretty.js';

export type FormatName = 'json_series' | 'json_rows' | 'jsonl' | 'csv' | 'pretty' | 'parquet';

/** All formats that are written here; Parquet is the engine's own work. */
export const TEXT_FORMATS: Readonly<Record<Exclude<FormatName, 'parquet'>, TextFormat>> = {
  json_series: JSON_SERIES,
  json_rows: JSON_ROWS,
  jsonl: JSON_LINES,
  csv: CSV,
  pretty: PRETTY,
};

export const PARQUET_TYPE = 'application/vnd.apache.parquet';
