import { OpenApi } from '@plinth/kernel';
import { Type } from 'typebox';

const { oneOf, parameter } = OpenApi;

export const DB = parameter('db', Type.String({ minLength: 1 }), true);
export const BUCKET = parameter(
  'bucket',
  Type.String({ minLength: 1, description: 'or db' }),
  true,
);
export const RP = parameter('rp', Type.String({ description: 'retention policy' }));

export const FORMATS = [
  'json',
  'json_series',
  'json_rows',
  'jsonl',
  'json_lines',
  'csv',
  'csv_exact',
  'pretty',
  'parquet',
];
export const FORMAT = parameter('format', oneOf(FORMATS));

/** The refusals of every path. */
export const FAILED = OpenApi.refusals;
