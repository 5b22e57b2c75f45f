/** OpenAPI 3.1 of the webhook service, as far as it is served. Source: webhooks. */
export function describeWebhooks(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth webhook service',
      version: '0.1.0',
      description:
        'The webhook of an app and its deliveries, compatible with GitHub App webhooks; events, queue and apps for operators.',
    },
    servers: [{ url: 'http://127.0.0.1:8181' }],
    paths: { ...APP_PATHS, ...OPERATOR_PATHS },
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        app: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'RS256, by the app',
        },
        admin: { type: 'http', scheme: 'bearer', description: 'an admin token' },
      },
    },
  };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ 'application/json': { schema } });
const text = { type: 'string' };
const integer = { type: 'integer' };
const nullable = (type: string) => ({ type: [type, 'null'] });

const FAILURES = Object.fromEntries(
  [
    [400, 'the request cannot be read'],
    [401, 'no valid credential'],
    [404, 'there is no such thing'],
    [422, 'a value was refused'],
  ].map(([status, description]) => [
    String(status),
    { description, content: json(ref('Failure')) },
  ]),
);

interface Operation {
  readonly summary: string;
  /** The anchor that refusals of this operation name in `documentation_url`. */
  readonly operationId?: string;
  readonly status?: number;
  readonly answer?: object;
  readonly body?: object;
  readonly query?: readonly string[];
}

function operation(path: string, security: 'app' | 'admin', about: Operation): object {
  const { summary, operationId, status = 200, answer, body, query = [] } = about;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }));
  const inQuery = query.map((name) => ({ name, in: 'query', required: false, schema: text }));
  return {
    summary,
    ...(operationId !== undefined && { operationId }),
    security: [{ [security]: [] }],
    ...([...inPath, ...inQuery].length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body !== undefined && { requestBody: { content: json(body) } }),
    responses: {
      [String(status)]: {
        description: 'done',
        ...(answer !== undefined && { content: json(answer) }),
      },
      ...FAILURES,
    },
  };
}

const LIST_QUERY = [
  'per_page',
  'cursor',
  'redelivery',
  'status',
  'event',
  'action',
  'guid',
  'installation_id',
  'repository_id',
  'since',
  'until',
];
const HOOK = '/api/v3/app/hook';

const describe = (
  security: 'app' | 'admin',
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>,
): Record<string, object> =>
  Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, about]) => [
          method,
          operation(path, security, about),
        ]),
      ),
    ]),
  );

const APP_PATHS = describe('app', {
  [`${HOOK}/config`]: {
    get: {
      summary: 'Get the webhook configuration',
      operationId: 'get-a-webhook-configuration-for-an-app',
      answer: ref('Config'),
    },
    patch: {
      summary: 'Change the webhook configuration',
      operationId: 'update-a-webhook-configuration-for-an-app',
      body: ref('Config'),
      answer: ref('Config'),
    },
  },
  [`${HOOK}/deliveries`]: {
    get: {
      summary: 'List deliveries, newest first',
      operationId: 'list-deliveries-for-an-app-webhook',
      query: LIST_QUERY,
      answer: { type: 'array', items: ref('Delivery') },
    },
  },
  [`${HOOK}/deliveries/{delivery_id}`]: {
    get: {
      summary: 'Get a delivery',
      operationId: 'get-a-delivery-for-an-app-webhook',
      answer: ref('DeliveryDetail'),
    },
  },
  [`${HOOK}/deliveries/{delivery_id}/attempts`]: {
    post: {
      summary: 'Deliver again',
      operationId: 'redeliver-a-delivery-for-an-app-webhook',
      status: 202,
    },
  },
  '/api/v3/app': { get: { summary: 'Get the app itself', answer: { type: 'object' } } },
});

const APP = '/ops/v1/apps/{app}';
const OPERATOR_PATHS = describe('admin', {
  '/ops/v1/events': {
    post: { summary: 'Publish an event', status: 202, body: ref('Event'), answer: ref('Accepted') },
  },
  '/ops/v1/events/batch': {
    post: {
      summary: 'Publish up to 1000 events, as an array or one per line',
      status: 202,
      body: { type: 'array', items: ref('Event') },
      answer: { type: 'array', items: ref('Accepted') },
    },
  },
  '/ops/v1/apps': {
    get: { summary: 'List apps', query: ['per_page', 'cursor'], answer: { type: 'array' } },
    post: { summary: 'Register an app', status: 201, body: ref('App'), answer: ref('App') },
  },
  [APP]: {
    get: { summary: 'Get an app', answer: ref('App') },
    patch: { summary: 'Change an app or its webhook', body: ref('App'), answer: ref('App') },
    delete: { summary: 'Remove an app', status: 204 },
  },
  [`${APP}/keys`]: { post: { summary: 'Add a key', status: 201, answer: { type: 'object' } } },
  [`${APP}/keys/{key}`]: { delete: { summary: 'Remove a key', status: 204 } },
  [`${APP}/suspend`]: { post: { summary: 'Refuse the app, hold its deliveries', status: 202 } },
  [`${APP}/unsuspend`]: { post: { summary: 'Let the app go on', status: 202 } },
  [`${APP}/ping`]: { post: { summary: 'Send the event ping', status: 202 } },
  [`${APP}/secret/rotate`]: {
    post: { summary: 'Give the webhook a new secret', answer: { type: 'object' } },
  },
  [`${APP}/queue`]: { get: { summary: 'What waits, by state', answer: { type: 'object' } } },
  [`${APP}/deliveries`]: {
    get: {
      summary: 'Deliveries, or with `state` what is not finished',
      query: [...LIST_QUERY, 'state'],
      answer: { type: 'array', items: ref('Delivery') },
    },
  },
  [`${APP}/deliveries/{delivery_id}`]: {
    get: { summary: 'A delivery with the exact error', answer: ref('DeliveryDetail') },
  },
  [`${APP}/deliveries/{delivery_id}/attempts`]: { post: { summary: 'Deliver again', status: 202 } },
  [`${APP}/redrive`]: {
    post: {
      summary: 'Deliver again what is dead, or what failed and has not been delivered since',
      status: 202,
      answer: { type: 'object', properties: { matched: integer, queued: integer } },
    },
  },
});

const SUMMARY = {
  id: integer,
  guid: { type: 'string', format: 'uuid' },
  delivered_at: { type: 'string', format: 'date-time' },
  redelivery: { type: 'boolean' },
  duration: { type: 'number', description: 'seconds' },
  status: text,
  status_code: integer,
  event: text,
  action: nullable('string'),
  installation_id: nullable('integer'),
  repository_id: nullable('integer'),
  throttled_at: nullable('string'),
  url: text,
};

const SCHEMAS = {
  Failure: {
    type: 'object',
    properties: {
      message: text,
      errors: { type: 'array', items: { type: 'object' } },
      documentation_url: text,
      status: text,
    },
  },
  Config: {
    type: 'object',
    properties: {
      content_type: { type: 'string', enum: ['json', 'form'] },
      insecure_ssl: { type: ['string', 'number'], enum: ['0', '1', 0, 1] },
      secret: { type: ['string', 'null'], description: 'shown as ********' },
      url: { type: 'string', format: 'uri' },
    },
  },
  Delivery: { type: 'object', properties: SUMMARY },
  DeliveryDetail: {
    type: 'object',
    properties: {
      ...SUMMARY,
      request: {
        type: 'object',
        properties: { headers: nullable('object'), payload: nullable('object') },
      },
      response: {
        type: 'object',
        properties: { headers: nullable('object'), payload: nullable('string') },
      },
    },
  },
  Event: {
    type: 'object',
    required: ['event', 'payload'],
    properties: {
      event: { type: 'string', pattern: '^[a-z0-9_.-]{1,100}$' },
      action: nullable('string'),
      payload: { type: 'object' },
      installation_id: nullable('integer'),
      repository_id: nullable('integer'),
      app_id: integer,
      client_id: text,
      app_ids: { type: 'array', items: integer },
      id: { type: 'string', description: 'idempotency key, for a day' },
      ordering_key: text,
      deliver_at: { type: 'string', format: 'date-time' },
    },
  },
  Accepted: {
    type: 'object',
    properties: {
      guid: text,
      accepted_at: { type: 'string', format: 'date-time' },
      targets: { type: 'array', items: { type: 'object' } },
      duplicate: { type: 'boolean' },
    },
  },
  App: {
    type: 'object',
    properties: {
      id: integer,
      client_id: text,
      slug: text,
      name: text,
      owner: nullable('object'),
      public_keys: { type: 'array', items: { type: 'object' } },
      hook: nullable('object'),
      pem: { type: 'string', description: 'private key, shown once' },
    },
  },
};
