import { CreateNamedToken, DeleteToken, TokenObject } from '@plinth/identity';
import { OpenApi } from '@plinth/kernel';
import { describeTsdb } from '@plinth/tsdb';
import { type TSchema, Type } from 'typebox';

const { answer, json, parameter, ref, refusals: FAILED, text } = OpenApi;

/** OpenAPI 3.1 of the time-series service and what it is served with: its tokens, health and metrics. */
export function describeTimeSeriesApi(): object {
  const { paths, schemas } = describeTsdb();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth time-series service',
      version: '0.1.0',
      description:
        'Writes by line protocol, SQL, InfluxQL, databases, caches, Python plugins, tokens. Compatible with InfluxDB 3 Core where it has the same paths.',
    },
    servers: [{ url: 'http://127.0.0.1:8181' }],
    security: [{ token: [] }],
    paths: { ...paths, ...tokenPaths(), ...serverPaths() },
    components: {
      schemas: { ...schemas, Token: TokenObject },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'a token that starts with apiv3_' },
      },
    },
  };
}

function tokenPaths(): Readonly<Record<string, object>> {
  return {
    '/api/v3/configure/token/admin': {
      post: { ...makeToken('Make the first admin token; needs no token'), security: [] },
    },
    '/api/v3/configure/token/admin/regenerate': { post: makeToken('Replace the admin token') },
    '/api/v3/configure/token/named_admin': {
      post: makeToken('Make a named admin token', CreateNamedToken),
    },
    '/api/v3/configure/token': { delete: deleteToken() },
  };
}

function serverPaths(): Readonly<Record<string, object>> {
  return {
    '/health': { get: health() },
    '/api/v1/health': { get: health() },
    '/ready': { get: ready() },
    '/metrics': { get: plain('Metrics in the text format of Prometheus') },
    '/ops/v1/routes': { get: routes() },
    '/debug/vars': { get: numbers() },
    '/ping': { get: ping(), post: ping() },
  };
}

function makeToken(summary: string, body?: TSchema): object {
  const responses = {
    '201': answer('the token; its text is shown this once', json(ref('Token'))),
    ...FAILED,
    '404': answer('there is no admin token to replace', json(ref('Error'))),
    '409': answer('the name is taken', json(ref('Error'))),
  };
  if (body === undefined) return { summary, responses };
  return {
    summary,
    requestBody: { required: true, content: json(body) },
    responses: { ...responses, '415': answer('the body is no JSON', json(ref('Error'))) },
  };
}

function deleteToken(): object {
  return {
    summary: 'End a named token',
    parameters: [parameter('token_name', DeleteToken.properties.token_name, true)],
    responses: {
      '200': answer('it is valid no longer'),
      ...FAILED,
      '404': answer('there is no such token', json(ref('Error'))),
      '405': answer('the admin token cannot be deleted', json(ref('Error'))),
    },
  };
}

function plain(summary: string): object {
  return { summary, responses: { '200': answer('yes', text), '401': FAILED['401'] } };
}

/** In JSON for clients that ask for nothing else, as those of InfluxDB 2.x do. */
function health(): object {
  const body = Type.Object({
    name: Type.String(),
    message: Type.String(),
    status: Type.Union([Type.Literal('pass'), Type.Literal('fail')]),
    checks: Type.Array(Type.Unknown(), { maxItems: 0 }),
    version: Type.String(),
    commit: Type.String(),
  });
  const content = { ...text, ...json(body) };
  const failed = { ...json(Type.Union([ref('Error'), body])) };
  const responses = {
    '200': answer('OK', content),
    '401': FAILED['401'],
    '503': answer('not now, and why', failed),
  };
  return { summary: 'Says OK when writes are taken and no stop has begun', responses };
}

/** In JSON as above. */
function ready(): object {
  const body = Type.Object({
    status: Type.Literal('ready'),
    started: Type.String({ format: 'date-time' }),
    up: Type.String({ description: 'seconds since then, as `12.3s`' }),
  });
  const responses = {
    '200': answer('OK', { ...text, ...json(body) }),
    '401': FAILED['401'],
    '503': answer('not now', json(ref('Error'))),
  };
  return {
    summary: 'Says OK when writes are taken, storage can be reached and no stop has begun',
    responses,
  };
}

function routes(): object {
  const body = Type.Array(
    Type.Object({
      service: Type.String(),
      method: Type.String(),
      path: Type.String({ description: 'with parameters: `/things/:id`' }),
      access: Type.Union([
        Type.String({ description: 'public, admin, first_token, platform, app or editor' }),
        Type.Object({
          openable: Type.String({
            description: 'admin, unless `disable_authz` names this word',
          }),
        }),
      ]),
    }),
  );
  const responses = { '200': answer('every route', json(body)), '401': FAILED['401'] };
  return { summary: 'Lists every route of the server with who may use it', responses };
}

function numbers(): object {
  const body = Type.Record(Type.String(), Type.Unknown());
  const responses = {
    '200': answer('`system`, `build` and groups of numbers', json(body)),
    '401': FAILED['401'],
  };
  return { summary: 'What is counted, as a 1.x server shows it', responses };
}

function ping(): object {
  const body = Type.Object({
    product_name: Type.String(),
    version: Type.String(),
    revision: Type.String(),
    process_id: Type.String({ format: 'uuid' }),
  });
  const responses = {
    '200': answer('who answers', json(body)),
    '204': answer(
      'the same to clients of 1.x that take nothing else; who answers stands in headers',
    ),
    '401': FAILED['401'],
  };
  return { summary: 'Product, version, process', responses };
}
