import {
  type ApiDocs,
  OpenApi,
  type Route,
  type RouteDocs,
  type RouteOutput,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { FORMAT_NAMES } from './query/result-format.js';

const { response, oneOf, text } = OpenApi;
const maybe = Type.Optional;

/** The reason why these routes are not validated by their schema. */
export const HANDLER_VALIDATION = 'parameters have aliases, and errors are those of InfluxDB';

export const TSDB_API: ApiDocs = {
  title: 'Plinth time-series service',
  description:
    'Line protocol writes, SQL and InfluxQL queries, databases, caches, Python plugins and tokens. Compatible with InfluxDB 3 Core on the same API paths.',
  schemas: () => ({
    RefusedLines: Type.Object({
      error: Type.String(),
      data: Type.Array(
        Type.Object({
          original_line: Type.String(),
          line_number: Type.Integer({ minimum: 1 }),
          error_message: Type.String(),
        }),
      ),
    }),
  }),
};

export const DB = { db: Type.String({ minLength: 1 }) };
export const TABLE = { ...DB, table: Type.String() };
export const BUCKET = { bucket: Type.String({ minLength: 1, description: 'alias: db' }) };
export const RP = { rp: maybe(Type.String({ description: 'retention policy' })) };
export const RETENTION = {
  retention_period: maybe(
    Type.String({ description: 'such as 30d; without it, rows are kept forever' }),
  ),
};
export const INTEGER_FIELDS = {
  integer_fields: maybe(
    oneOf(['integer', 'float'], {
      description:
        'column type of new integer fields; with float, float columns also accept integers',
    }),
  ),
};
export const HARD_DELETE_AT = {
  hard_delete_at: maybe(
    Type.String({
      description: 'when the data is deleted permanently: now, never, default or an RFC 3339 time',
    }),
  ),
};
export const QUERY_FORMAT = maybe(oneOf(FORMAT_NAMES));
export const PARAMS = {
  params: maybe(Type.String({ description: 'JSON object with the values of $name parameters' })),
};

/** `format` determines the content type; without it, `Accept` does. */
export const RESULT: Readonly<Record<number, RouteOutput>> = {
  200: response('query result', {
    'application/json': {},
    'application/jsonl': {},
    'text/csv': {},
    ...text,
    'application/vnd.apache.parquet': {},
    'application/vnd.apache.arrow.stream': {},
  }),
};

export const QUERY_FAILED = {
  400: 'a parameter or the statement is invalid, or evaluation failed',
  404: 'database not found',
  405: 'the statement is not implemented',
  500: 'query timed out, or stored data cannot be read',
  503: 'out of memory, too many concurrent queries, or Trino is not available; retry',
};

/** Documentation of a query route with the query in the URL or in the body. */
const ENGINE = {
  engine: maybe(
    oneOf(['duckdb', 'trino'], {
      description:
        'where the query runs; default: on this server, unless query.wide_bytes is exceeded',
    }),
  ),
};

export const queryDocs = (language: 'SQL' | 'InfluxQL'): RouteDocs => ({
  summary: `Run a query in ${language}`,
  query: {
    ...DB,
    q: Type.String({ description: `one ${language} statement` }),
    format: QUERY_FORMAT,
    ...(language === 'SQL' && ENGINE),
    ...PARAMS,
  },
  body: Type.Object({
    db: Type.String({ description: 'alias: database' }),
    q: Type.String({ description: 'alias: query_str' }),
    format: QUERY_FORMAT,
    ...(language === 'SQL' && ENGINE),
    params: maybe(
      Type.Record(
        Type.String(),
        Type.Union([Type.Null(), Type.Boolean(), Type.Number(), Type.String()]),
      ),
    ),
  }),
  output: RESULT,
  errors: QUERY_FAILED,
});

/** Errors of management requests, whose parameters are in the query string or in a JSON body. */
export const MANAGEMENT_FAILED = {
  400: 'a parameter is missing or invalid',
  403: 'the internal database cannot be changed',
  404: 'resource not found',
  409: 'already exists, or is already deleted',
  415: 'the content type is not JSON',
  422: 'the limit of databases, tables or columns is reached',
};

export const PROCESSING_FAILED = {
  ...MANAGEMENT_FAILED,
  403: 'disabled by the server settings',
  409: 'already exists, or is still enabled',
  500: 'no plugin folder is configured, or the installer failed',
  502: 'the plugin could not be fetched',
  503: 'Python is not available',
};

export const NO_CONTENT: Route['output'] = { 204: response('done') };
