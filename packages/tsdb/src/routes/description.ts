import {
  type ApiDocs,
  OpenApi,
  type Route,
  type RouteDocs,
  type RouteOutput,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { FORMAT_NAMES } from './query/result-format.js';

const { answer, oneOf, text } = OpenApi;
const maybe = Type.Optional;

/** Why nothing is checked by its schema: of every route here. */
export const JUDGED =
  'parameters have several spellings, and refusals the words of the real system';

export const TSDB_API: ApiDocs = {
  title: 'Plinth time-series service',
  description:
    'Writes by line protocol, SQL, InfluxQL, databases, caches, Python plugins, tokens. Compatible with InfluxDB 3 Core where it has the same paths.',
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
export const BUCKET = { bucket: Type.String({ minLength: 1, description: 'or db' }) };
export const RP = { rp: maybe(Type.String({ description: 'retention policy' })) };
export const RETENTION = {
  retention_period: maybe(
    Type.String({ description: 'such as 30d; without it rows are kept for ever' }),
  ),
};
export const HARD_DELETE_AT = {
  hard_delete_at: maybe(
    Type.String({
      description: 'when the data go for good: now, never, default or a time of RFC 3339',
    }),
  ),
};
export const QUERY_FORMAT = maybe(oneOf(FORMAT_NAMES));
export const PARAMS = {
  params: maybe(Type.String({ description: 'JSON object: values of $name' })),
};

/** The answer's type follows `format`, or `Accept` without it. */
export const RESULT: Readonly<Record<number, RouteOutput>> = {
  200: answer('the result', {
    'application/json': {},
    'application/jsonl': {},
    'text/csv': {},
    ...text,
    'application/vnd.apache.parquet': {},
    'application/vnd.apache.arrow.stream': {},
  }),
};

export const QUERY_FAILED = {
  400: 'a parameter or the statement is wrong, or its values cannot be computed',
  404: 'there is no such database',
  405: 'the statement is not implemented',
  500: 'the time limit was exceeded, or stored data cannot be read',
  503: 'not enough memory, or too many queries; retry',
};

/** A query in this language, in the target or in a body. */
export const queryWords = (language: 'SQL' | 'InfluxQL'): RouteDocs => ({
  summary: `Run a query in ${language}`,
  query: {
    ...DB,
    q: Type.String({ description: `one statement of ${language}` }),
    format: QUERY_FORMAT,
    ...PARAMS,
  },
  body: Type.Object({
    db: Type.String({ description: 'also spelled database' }),
    q: Type.String({ description: 'also spelled query_str' }),
    format: QUERY_FORMAT,
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

/** Of calls that change what there is; what they are told may come as query string or as JSON. */
export const MANAGEMENT_FAILED = {
  400: 'a parameter is missing or cannot be read',
  403: 'the database is the server’s own',
  404: 'there is no such thing',
  409: 'it is there already, or deleted already',
  415: 'the body is not said to be JSON',
  422: 'a limit of databases, tables or columns',
};

export const PROCESSING_FAILED = {
  ...MANAGEMENT_FAILED,
  403: 'switched off by the settings of the server',
  409: 'it is there already, or still enabled',
  500: 'no plugin folder is set, or the installer failed',
  502: 'a plugin could not be fetched',
  503: 'there is no Python on this machine',
};

export const NO_CONTENT: Route['output'] = { 204: answer('done') };
