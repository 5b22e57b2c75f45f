import { type BodyRule, OpenApi, type RouteOutput } from '@plinth/kernel';
import { type TProperties, type TSchema, Type } from 'typebox';
import { jsonBody } from '../query/json-body.js';

const { response, json, oneOf } = OpenApi;
const maybe = Type.Optional;
const MAX_SECONDS = 9_000_000_000;
const Seconds = Type.Integer({ minimum: 0, maximum: MAX_SECONDS });
const Text = maybe(Type.String());

export const BODY: BodyRule = { maxBytes: 1_048_576, parse: ({ body }) => jsonBody(body) };

export const ORG = { org: Text, orgID: Text };
export const PAGE = {
  limit: maybe(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  offset: maybe(Type.Integer({ minimum: 0, default: 0 })),
};
export const Id = (name: string) =>
  Type.Object({ [name]: Type.String({ description: '16 hex digits' }) });

export const RetentionRules = Type.Array(
  Type.Object({
    type: maybe(oneOf(['expire'])),
    everySeconds: Type.Integer({ ...Seconds, description: '0 keeps rows forever' }),
    shardGroupDurationSeconds: maybe(Seconds),
  }),
  { maxItems: 1 },
);
export const Bucket = Type.Object({
  id: Type.String(),
  orgID: Type.String(),
  type: oneOf(['user', 'system']),
  name: Type.String({ description: 'name of a database, or database/policy' }),
  retentionRules: RetentionRules,
});
export const Organization = Type.Object({ id: Type.String(), name: Type.String() });
export const User = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'name of the token' }),
});
export const Mapping = Type.Object({
  id: Type.String(),
  bucketID: Type.String(),
  database: Type.String(),
  retention_policy: Type.String(),
  default: Type.Boolean(),
  orgID: Type.String(),
});
export const V2Permissions = Type.Array(
  Type.Object({
    action: oneOf(['read', 'write']),
    resource: Type.Object({ type: Type.String(), id: Text, name: Text, orgID: Text, org: Text }),
  }),
  { minItems: 1, maxItems: 2000 },
);
export const Authorization = Type.Object({
  id: Type.String(),
  token: Type.String({ description: '`REDACTED`, except in the response that creates it' }),
  status: oneOf(['active', 'inactive']),
  description: Type.String({ description: 'name of the token' }),
  orgID: Type.String(),
  org: Type.String(),
  userID: Type.String(),
  user: Type.String(),
  permissions: V2Permissions,
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
});

export const one = (status: 200 | 201, schema: TSchema): Record<number, RouteOutput> => ({
  [status]: response('the object', json(schema)),
});
export const many = (name: string, schema: TSchema): Record<number, RouteOutput> => {
  const properties: TProperties = { [name]: Type.Array(schema) };
  return { 200: response('the objects', json(Type.Object(properties))) };
};
