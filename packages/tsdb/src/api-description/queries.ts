import { OpenApi } from '@plinth/kernel';
import { Type } from 'typebox';
import { DB, FAILED, FORMAT, FORMATS, RP } from './elements.js';

const { answer, json, oneOf, parameter, ref, text } = OpenApi;

/** The answer's type follows `format`, or `Accept` without it. */
export const RESULT = {
  '200': answer('the result', {
    'application/json': {},
    'application/jsonl': {},
    'text/csv': {},
    ...text,
    'application/vnd.apache.parquet': {},
  }),
  ...FAILED,
};

const QUERY_FAILED = {
  '404': answer('there is no such database', json(ref('Error'))),
  '405': answer('the statement is not implemented', json(ref('Error'))),
  '500': answer('the query failed while it ran', json(ref('Error'))),
};

/** Paths that take SQL or InfluxQL. */
export function queryPaths(): Readonly<Record<string, object>> {
  return {
    '/api/v3/query_sql': { get: queryByUrl('SQL'), post: queryByBody('SQL') },
    '/api/v3/query_influxql': { get: queryByUrl('InfluxQL'), post: queryByBody('InfluxQL') },
    '/api/v3/query_legacyql': { get: queryByUrl('InfluxQL'), post: queryByBody('InfluxQL') },
    '/query': { get: queryV1(), post: queryV1() },
  };
}

function queryByUrl(language: 'SQL' | 'InfluxQL'): object {
  const q = parameter('q', Type.String({ description: `one statement of ${language}` }), true);
  const params = parameter('params', Type.String({ description: 'JSON object: values of $name' }));
  return {
    summary: `Run a query in ${language}`,
    parameters: [DB, q, FORMAT, params],
    responses: { ...RESULT, ...QUERY_FAILED },
  };
}

function queryByBody(language: 'SQL' | 'InfluxQL'): object {
  const scalar = Type.Union([Type.Null(), Type.Boolean(), Type.Number(), Type.String()]);
  const body = Type.Object({
    db: Type.String({ description: 'also spelled database' }),
    q: Type.String({ description: 'also spelled query_str' }),
    format: Type.Optional(oneOf(FORMATS)),
    params: Type.Optional(Type.Record(Type.String(), scalar)),
  });
  return {
    summary: `Run a query in ${language}`,
    requestBody: { required: true, content: json(body) },
    responses: { ...RESULT, ...QUERY_FAILED },
  };
}

/** The 1.x server's endpoint; a POST may have the same in a form, in JSON or, for `q`, as its body. */
function queryV1(): object {
  const q = parameter(
    'q',
    Type.String({ description: 'statements of InfluxQL, parted by ;' }),
    true,
  );
  const epoch = parameter(
    'epoch',
    Type.String({ description: 'unit of times: ns, u, ms, s, m, h, d, w' }),
  );
  const chunked = parameter('chunked', Type.Boolean({ default: false }));
  const chunkSize = parameter('chunk_size', Type.Integer({ default: 10_000 }));
  const pretty = parameter('pretty', Type.Boolean({ default: false }));
  const params = parameter('params', Type.String({ description: 'JSON object: values of $name' }));
  return {
    summary: 'Run statements of InfluxQL (v1)',
    parameters: [q, { ...DB, required: false }, RP, epoch, chunked, chunkSize, pretty, params],
    responses: {
      '200': answer('a result for each statement; failures of statements are in their results'),
      '400': answer('a parameter is missing or cannot be read', json(ref('Error'))),
      ...QUERY_FAILED,
    },
  };
}
