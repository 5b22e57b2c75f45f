import type { TSchema } from 'typebox';
import { REFERENCE_LISTS } from './domain/reference/index.js';
import { CONFIGURATION_NAMES } from './model/configuration-name.js';
import { ERROR_CODES } from './model/error-codes.js';
import { INCLUDES } from './model/shape/account-params.js';
import { RequestShapes, type ShapeName } from './routes/request-shapes.js';
import { statusOf } from './routes/to-wire.js';

type Json = Record<string, unknown>;

/** OpenAPI 3.1 of the accounts service, from the schemas that bodies are checked against. */
export function describeAccounts(): Json {
  const shapes = new RequestShapes(REFERENCE_LISTS);
  const body = (name: ShapeName): Json => ({
    required: false,
    content: { 'application/json': { schema: toOpenApi(shapes.of(name)) } },
  });
  const account = '/v2/core/accounts/{account}';
  const destination = '/v2/core/event_destinations/{destination}';
  const clock = '/v1/test_helpers/test_clocks/{test_clock}';
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth accounts service',
      version: '0.1.0',
      description:
        'Accounts, persons, single-use tokens and events, as clients of Stripe Accounts v2 expect them. `vendor` stands for the configured word.',
    },
    servers: [{ url: 'http://127.0.0.1:8181' }],
    security: [{ key: [] }],
    paths: {
      '/v2/core/accounts': {
        get: list('List accounts', [
          array('applied_configurations', CONFIGURATION_NAMES),
          { name: 'closed', in: 'query', schema: { type: 'boolean', default: false } },
        ]),
        post: change('Create an account', 'Account', body('account_create')),
      },
      [account]: {
        get: read('Retrieve an account', 'Account', [array('include', INCLUDES)]),
        post: change('Update an account', 'Account', body('account_update')),
      },
      [`${account}/close`]: { post: change('Close an account', 'Account', body('account_close')) },
      [`${account}/persons`]: {
        get: list('List persons'),
        post: change('Create a person', 'Person', body('person_create')),
      },
      [`${account}/persons/{person}`]: {
        get: read('Retrieve a person', 'Person'),
        post: change('Update a person', 'Person', body('person_update')),
        delete: change('Delete a person', 'Deleted'),
      },
      [`${account}/person_tokens`]: {
        post: change('Create a person token', 'Token', body('person_token')),
      },
      [`${account}/person_tokens/{token}`]: { get: read('Retrieve a person token', 'Token') },
      '/v2/core/account_tokens': {
        post: change('Create an account token', 'Token', body('account_token')),
      },
      '/v2/core/account_tokens/{token}': { get: read('Retrieve an account token', 'Token') },
      '/v2/core/events': { get: list('List events', [text('object_id'), array('types')]) },
      '/v2/core/events/{event}': { get: read('Retrieve an event', 'Event') },
      '/v2/core/event_destinations': {
        get: list('List event destinations'),
        post: change('Create an event destination', 'EventDestination', body('destination_create')),
      },
      [destination]: {
        get: read('Retrieve an event destination', 'EventDestination'),
        post: change('Update an event destination', 'EventDestination', body('destination_update')),
        delete: change('Delete an event destination', 'Deleted'),
      },
      [`${destination}/enable`]: {
        post: change('Enable an event destination', 'EventDestination'),
      },
      [`${destination}/disable`]: {
        post: change('Disable an event destination', 'EventDestination'),
      },
      [`${destination}/ping`]: { post: change('Send a ping event', 'Event') },
      '/v1/test_helpers/test_clocks': {
        get: list('List test clocks'),
        post: change('Create a test clock', 'TestClock', body('test_clock')),
      },
      [clock]: {
        get: read('Retrieve a test clock', 'TestClock'),
        delete: change('Delete a test clock and close its accounts', 'Deleted'),
      },
      [`${clock}/advance`]: {
        post: change('Advance a test clock', 'TestClock', body('test_clock_advance')),
      },
    },
    components: {
      schemas: { ...SCHEMAS, ...longEnums() },
      parameters: {
        ApiVersion: header('Api-Version', '<YYYY-MM-DD>.<release_name>'),
        IdempotencyKey: header('Idempotency-Key', '1 to 255 printable ASCII characters'),
      },
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'sk_test_, sk_live_, pk_test_, pk_live_',
        },
      },
    },
  };
}

const failures = (): Json =>
  Object.fromEntries(
    [...new Set(Object.keys(ERROR_CODES).map((code) => statusOf(code as keyof typeof ERROR_CODES)))]
      .sort()
      .map((status) => [
        String(status),
        {
          description: Object.keys(ERROR_CODES)
            .filter((code) => statusOf(code as keyof typeof ERROR_CODES) === status)
            .slice(0, 12)
            .join(', '),
          content: { 'application/json': { schema: ref('Error') } },
        },
      ]),
  );

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function answer(schema: Json): Json {
  const ok = { description: 'done', content: { 'application/json': { schema } } };
  return { '200': ok, ...failures() };
}

const VERSION = { $ref: '#/components/parameters/ApiVersion' };
const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  schema: { type: 'string', description },
});
const text = (name: string): Json => ({ name, in: 'query', schema: { type: 'string' } });
const array = (name: string, values?: readonly string[]): Json => ({
  name,
  in: 'query',
  style: 'deepObject',
  schema: { type: 'array', items: { type: 'string', ...(values && { enum: values }) } },
});

function read(summary: string, schema: string, parameters: readonly Json[] = []): Json {
  return { summary, parameters: [VERSION, ...parameters], responses: answer(ref(schema)) };
}

function list(summary: string, parameters: readonly Json[] = []): Json {
  const limit = {
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: 100 },
  };
  return {
    summary,
    parameters: [VERSION, limit, text('page'), ...parameters],
    responses: answer(ref('Page')),
  };
}

function change(summary: string, schema: string, requestBody?: Json): Json {
  return {
    summary,
    parameters: [VERSION, { $ref: '#/components/parameters/IdempotencyKey' }],
    ...(requestBody && { requestBody }),
    responses: answer(ref(schema)),
  };
}

const object = (names: readonly string[]): Json => ({
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});
const SCHEMAS: Json = {
  Account: object([
    'id',
    'object',
    'applied_configurations',
    'closed',
    'configuration',
    'contact_email',
    'contact_phone',
    'created',
    'dashboard',
    'defaults',
    'display_name',
    'future_requirements',
    'identity',
    'livemode',
    'metadata',
    'requirements',
  ]),
  Person: object(['id', 'object', 'account', 'created', 'updated', 'livemode', 'metadata']),
  Token: object(['id', 'object', 'created', 'expires_at', 'livemode', 'used']),
  Event: object(['id', 'object', 'type', 'created', 'livemode', 'reason', 'related_object']),
  EventDestination: object(['id', 'object', 'name', 'type', 'enabled_events', 'status']),
  TestClock: object(['id', 'object', 'created', 'frozen_time', 'status']),
  Deleted: object(['id', 'object']),
  Page: {
    type: 'object',
    required: ['data', 'next_page_url', 'previous_page_url'],
    properties: {
      data: { type: 'array', items: { type: 'object' } },
      next_page_url: { type: ['string', 'null'] },
      previous_page_url: { type: ['string', 'null'] },
    },
  },
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: Object.keys(ERROR_CODES) },
          message: { type: 'string' },
          param: { type: 'string' },
          type: { type: 'string' },
          user_message: { type: 'string' },
          doc_url: { type: 'string', format: 'uri' },
        },
      },
    },
  },
};

/** Lists that stand at many places: written once, referred to by name. */
function enumLists(): Readonly<Record<string, readonly string[]>> {
  return {
    Country: [...REFERENCE_LISTS.countries],
    Currency: [...REFERENCE_LISTS.currencies],
    Locale: REFERENCE_LISTS.locales,
    BusinessIdType: REFERENCE_LISTS.businessIdTypes,
    PersonIdType: REFERENCE_LISTS.personIdTypes,
  };
}

function longEnums(): Json {
  return Object.fromEntries(
    Object.entries(enumLists()).map(([name, values]) => [name, { type: 'string', enum: values }]),
  );
}

function namedEnum(values: readonly string[] | undefined): string | undefined {
  if (values === undefined || values.length < 40) return undefined;
  const lists = Object.entries(enumLists());
  return lists.find(([, list]) => list.length === values.length && list[0] === values[0])?.[0];
}

/** Our own keywords in the words of JSON Schema: what may be unset may be null. */
function toOpenApi(schema: TSchema | Json): Json {
  const {
    nullable,
    spelling: _,
    keyPattern,
    maxKeyLength,
    ...rest
  } = schema as Json & {
    nullable?: boolean;
    spelling?: string;
    keyPattern?: string;
    maxKeyLength?: number;
    type?: string;
    enum?: readonly string[];
  };
  const name = namedEnum(rest.enum);
  if (name !== undefined) {
    return nullable === true ? { anyOf: [ref(name), { type: 'null' }] } : ref(name);
  }
  const converted = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, convert(name, value)]),
  );
  const names = {
    ...(keyPattern !== undefined && { pattern: keyPattern }),
    ...(maxKeyLength !== undefined && { maxLength: maxKeyLength }),
  };
  return {
    ...converted,
    ...(nullable === true && { type: [rest.type, 'null'] }),
    ...(nullable === true && rest.enum && { enum: [...rest.enum, null] }),
    ...(Object.keys(names).length > 0 && { propertyNames: names }),
  };
}

function convert(name: string, value: unknown): unknown {
  const isSchema =
    name === 'items' || (name === 'additionalProperties' && typeof value === 'object');
  if (isSchema) return toOpenApi(value as Json);
  if (name !== 'properties') return value;
  const members = Object.entries(value as Record<string, Json>);
  return Object.fromEntries(members.map(([member, schema]) => [member, toOpenApi(schema)]));
}
