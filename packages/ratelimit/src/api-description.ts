import { type TSchema, Type } from 'typebox';

const Bucket = Type.Object({
  limit: Type.Integer({ minimum: 0 }),
  used: Type.Integer({ minimum: 0 }),
  remaining: Type.Integer({ minimum: 0 }),
  reset: Type.Integer({ description: 'epoch seconds' }),
});

const Overview = Type.Object({
  resources: Type.Record(Type.String(), Bucket),
  rate: Type.Optional(Bucket),
});

const Question = Type.Object({
  identity: Type.Optional(Type.String({ examples: ['user:583231'] })),
  authorization: Type.Optional(Type.String({ description: 'header of the request in question' })),
  ip: Type.Optional(Type.String()),
  resource: Type.Optional(Type.String({ default: 'core' })),
  endpoint: Type.Optional(Type.String({ default: '*' })),
  method: Type.Optional(Type.String({ default: 'GET' })),
  cost: Type.Optional(Type.Integer({ minimum: 0, default: 1 })),
  points: Type.Optional(Type.Integer({ minimum: 0, description: 'by method unless given' })),
  content: Type.Optional(Type.Boolean({ default: false })),
  content_per_minute: Type.Optional(Type.Integer({ minimum: 0 })),
  graph: Type.Optional(
    Type.Union([
      Type.Boolean(),
      Type.Object({
        mutation: Type.Optional(Type.Boolean()),
        cost: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
    ]),
  ),
  heavy: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  lease: Type.Optional(Type.Boolean({ description: 'hold a slot until `finish`' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'charge nothing' })),
  domain: Type.Optional(Type.Literal('default')),
  objects: Type.Optional(Type.Integer({ minimum: 0, description: 'of a batch of large files' })),
});

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const Answer = Type.Object({
  allowed: Type.Boolean(),
  limit_kind: Nullable(Type.String()),
  status: Type.Integer(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Nullable(Type.Object({})),
  retry_after: Nullable(Type.Integer({ minimum: 1 })),
  lease_id: Nullable(Type.String()),
});

const Finish = Type.Object({
  lease_id: Type.String(),
  status: Type.Optional(Type.Integer({ default: 200 })),
  cpu_ms: Type.Optional(Type.Number({ minimum: 0 })),
});

const Ban = Type.Object({
  identity: Type.String(),
  until: Type.Integer({ description: 'epoch seconds' }),
  level: Type.Integer({ minimum: 1 }),
});

const NewBan = Type.Object({
  identity: Type.String(),
  duration_seconds: Type.Optional(Type.Integer({ minimum: 1, default: 600 })),
});

const Failure = Type.Object({
  message: Type.String(),
  documentation_url: Type.String(),
  status: Type.String(),
});

interface Operation {
  readonly summary: string;
  readonly body?: TSchema;
  readonly answers: Readonly<Record<number, TSchema | undefined>>;
  readonly isOpen?: boolean;
}

const OPERATOR = '/ops/v1/rate-limits';
const OVERVIEW: Operation = {
  summary: 'what the caller has used and has left',
  answers: { 200: Overview, 401: Failure, 403: Failure, 404: Failure },
  isOpen: true,
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'get /rate_limit': OVERVIEW,
  'get /api/v3/rate_limit': OVERVIEW,
  [`post ${OPERATOR}/check`]: {
    summary: 'may this request pass, and charge it',
    body: Question,
    answers: { 200: Answer, 400: Failure, 422: Failure },
  },
  [`post ${OPERATOR}/check-batch`]: {
    summary: 'as many as 1,000 questions',
    body: Type.Object({ checks: Type.Array(Question, { maxItems: 1000 }) }),
    answers: { 200: Type.Object({ results: Type.Array(Answer) }), 422: Failure },
  },
  [`post ${OPERATOR}/finish`]: {
    summary: 'the request of a lease has ended',
    body: Finish,
    answers: { 204: undefined, 404: Failure },
  },
  [`get ${OPERATOR}/auth`]: {
    summary: 'question of a proxy, by X-Original-URI, X-Original-Method and Authorization',
    answers: { 204: undefined, 401: Failure, 403: Failure },
    isOpen: true,
  },
  [`get ${OPERATOR}/{identity}`]: {
    summary: 'everything that is counted for an identity',
    answers: { 200: Type.Object({ buckets: Type.Record(Type.String(), Bucket) }), 422: Failure },
  },
  [`post ${OPERATOR}/{identity}/reset`]: {
    summary: 'forget what an identity has used',
    answers: { 204: undefined, 422: Failure },
  },
  [`get ${OPERATOR}/bans`]: {
    summary: 'who is shut out',
    answers: { 200: Type.Object({ bans: Type.Array(Ban) }) },
  },
  [`post ${OPERATOR}/bans`]: {
    summary: 'shut an identity out',
    body: NewBan,
    answers: { 201: Ban, 422: Failure },
  },
  [`delete ${OPERATOR}/bans/{identity}`]: {
    summary: 'let an identity in again',
    answers: { 204: undefined, 404: Failure },
  },
  [`get ${OPERATOR}/top`]: {
    summary: 'who has used most of a resource',
    answers: { 200: Type.Object({ resource: Type.String(), top: Type.Array(Type.Object({})) }) },
  },
  [`get ${OPERATOR}/routes`]: {
    summary: 'what the routes of services with limits cost',
    answers: { 200: Type.Object({ routes: Type.Array(Type.Object({})) }) },
  },
};

/** OpenAPI description of what this service serves. */
export function describeRateLimits(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const [method = '', path = ''] = name.split(' ');
    paths[path] = { ...paths[path], [method]: describeOperation(path, operation) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Plinth limits', version: '0.1.0' },
    paths,
    components: { securitySchemes: { admin: { type: 'http', scheme: 'bearer' } } },
  };
}

const json = (schema: TSchema): object => ({ 'application/json': { schema } });

function describeOperation(path: string, { summary, body, answers, isOpen }: Operation): object {
  const hasIdentity = path.includes('{identity}');
  const identity = { name: 'identity', in: 'path', required: true, schema: { type: 'string' } };
  const responses = Object.entries(answers).map(([status, schema]) => [
    status,
    { description: summary, ...(schema !== undefined && { content: json(schema) }) },
  ]);
  return {
    summary,
    ...(hasIdentity && { parameters: [identity] }),
    ...(body !== undefined && { requestBody: { required: true, content: json(body) } }),
    responses: Object.fromEntries(responses),
    security: isOpen ? [] : [{ admin: [] }],
  };
}
