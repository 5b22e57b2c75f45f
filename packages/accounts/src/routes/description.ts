import type { ApiDocs, ApiRefusals } from '@plinth/kernel';
import { type TProperties, type TSchema, Type } from 'typebox';
import { REFERENCE_LISTS } from '../domain/reference/index.js';
import { ERROR_CODES, type ErrorCode } from '../model/error-codes.js';
import {
  fileSchema,
  keySchema,
  operatorRequirementSchema,
  paymentMethodSchema,
  settingsSchema,
  stateSchema,
  templateSchema,
  tickSchema,
} from '../model/shape/operator-params.js';
import { PAGE_LIMIT } from './query-string.js';
import { RequestShapes, SHAPE_NAMES } from './request-shapes.js';
import { statusOf } from './to-wire.js';

type Json = Record<string, unknown>;

export const ACCOUNTS_API: ApiDocs = {
  title: 'Plinth accounts service',
  description:
    'Accounts, persons, single-use tokens and events, compatible with clients of Stripe Accounts v2. `vendor` represents the configured vendor name.',
  schemas: () => ({ ...SCHEMAS, ...bodySchemas() }),
};

/** Schemas of request bodies by name, and the long enums that they refer to. */
export const bodySchemas = (): Record<string, Json> => ({ ...longEnums(), ...bodies() });

function bodies(): Record<string, Json> {
  const shapes = new RequestShapes(REFERENCE_LISTS);
  const ofOperators = {
    platform_settings: partly(settingsSchema(REFERENCE_LISTS)),
    account_state: stateSchema(REFERENCE_LISTS),
    requirement_injection: operatorRequirementSchema(REFERENCE_LISTS),
    platform_key: keySchema(),
    file_upload: fileSchema(),
    payment_method: paymentMethodSchema(),
    invoice_template: templateSchema(),
    tick: tickSchema(),
  };
  const all = [
    ...SHAPE_NAMES.map((name) => [name, shapes.of(name)] as const),
    ...Object.entries(ofOperators),
  ];
  return Object.fromEntries(all.map(([name, schema]) => [bodyName(name), toOpenApi(schema)]));
}

/** Removes `required`, because a patch is merged into the stored value. */
const partly = (schema: TSchema): TSchema =>
  JSON.parse(JSON.stringify(schema, (name, value) => (name === 'required' ? undefined : value)));

/** Converts `account_create` to `AccountCreate`. */
export const bodyName = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

const CODES = Object.keys(ERROR_CODES) as ErrorCode[]; // the keys are the error codes

/** Returns each HTTP status of the error codes with up to 12 of its codes. */
const failures = (): Readonly<Record<number, string>> =>
  Object.fromEntries(
    [...new Set(CODES.map(statusOf))].map((status) => [
      status,
      CODES.filter((code) => statusOf(code) === status)
        .slice(0, 12)
        .join(', '),
    ]),
  );

export const ACCOUNTS_REFUSALS: ApiRefusals = {
  name: 'Error',
  schema: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: CODES },
          message: { type: 'string' },
          param: { type: 'string' },
          type: { type: 'string' },
          user_message: { type: 'string' },
          doc_url: { type: 'string', format: 'uri' },
        },
      },
    },
  },
  shared: failures(),
};

const maybe = Type.Optional;
export const VERSION_HEADER = {
  'Api-Version': maybe(Type.String({ description: '<YYYY-MM-DD>.<release_name>' })),
};
export const CHANGE_HEADERS = {
  ...VERSION_HEADER,
  'Idempotency-Key': maybe(Type.String({ description: '1 to 255 printable ASCII characters' })),
};

/** Returns the schema of a list in a query, as in `name[0]=a&name[1]=b`. */
export const texts = (values?: readonly string[]): TSchema =>
  maybe(Type.Array(Type.String(values && { enum: [...values] }), { style: 'deepObject' }));

const PAGE_QUERY = {
  limit: maybe(Type.Integer({ minimum: PAGE_LIMIT.min, maximum: PAGE_LIMIT.max })),
  page: maybe(Type.String()),
};
/** Returns the query parameters of all lists plus `more`. */
export const pageQuery = (more: TProperties = {}): TProperties => ({ ...PAGE_QUERY, ...more });

/** Reason why the handler validates instead of the schema. */
export const HANDLER_VALIDATION =
  'the handler reports every invalid field at once and normalizes values';

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

const object = (names: readonly string[]): Json => ({
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});
const SCHEMAS: Readonly<Record<string, Json>> = {
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
};

/** Returns the long enums that many schemas refer to by name. */
function enumLists(): Readonly<Record<string, readonly string[]>> {
  return {
    Country: [...REFERENCE_LISTS.countries],
    Currency: [...REFERENCE_LISTS.currencies],
    Locale: REFERENCE_LISTS.locales,
    BusinessIdType: REFERENCE_LISTS.businessIdTypes,
    PersonIdType: REFERENCE_LISTS.personIdTypes,
  };
}

function longEnums(): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(enumLists()).map(([name, values]) => [name, { type: 'string', enum: values }]),
  );
}

function namedEnum(values: readonly string[] | undefined): string | undefined {
  if (values === undefined || values.length < 40) return undefined;
  const lists = Object.entries(enumLists());
  return lists.find(([, list]) => list.length === values.length && list[0] === values[0])?.[0];
}

/** Converts our schema keywords to JSON Schema: fields that can be unset can be null. */
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
