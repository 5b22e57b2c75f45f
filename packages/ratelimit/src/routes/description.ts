import type { ApiWords } from '@plinth/kernel';
import { type TSchema, Type } from 'typebox';

export const RATE_LIMIT_API: ApiWords = {
  title: 'Plinth limits',
  description: 'What callers have left, decisions for other systems, and bans for operators.',
};

export const Bucket = Type.Object({
  limit: Type.Integer({ minimum: 0 }),
  used: Type.Integer({ minimum: 0 }),
  remaining: Type.Integer({ minimum: 0 }),
  reset: Type.Integer({ description: 'epoch seconds' }),
});

export const Overview = Type.Object({
  resources: Type.Record(Type.String(), Bucket),
  rate: Type.Optional(Bucket),
});

export const Question = Type.Object({
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

export const Decision = Type.Object({
  allowed: Type.Boolean(),
  limit_kind: Nullable(Type.String()),
  status: Type.Integer(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Nullable(Type.Object({})),
  retry_after: Nullable(Type.Integer({ minimum: 1 })),
  lease_id: Nullable(Type.String()),
});

/** A day: no request ran longer, and sums of it stay exact. */
const MAX_CPU_MS = 86_400_000;

export const Finish = Type.Object({
  lease_id: Type.String(),
  status: Type.Optional(Type.Integer({ default: 200 })),
  cpu_ms: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_CPU_MS, default: 0 })),
});

export const Ban = Type.Object({
  identity: Type.String(),
  until: Type.Integer({ description: 'epoch seconds' }),
  level: Type.Integer({ minimum: 1 }),
});

const MAX_BAN_SEC = 31_536_000;

/** Closed: a misspelt duration would be that of another ban. */
export const NewBan = Type.Object(
  {
    identity: Type.String(),
    duration_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_BAN_SEC, default: 600 }),
    ),
  },
  { additionalProperties: false },
);

export const MAX_BATCH_COUNT = 1_000;
/** As a list, or in an object. */
export const Questions = Type.Union([
  Type.Object({ checks: Type.Array(Question, { maxItems: MAX_BATCH_COUNT }) }),
  Type.Array(Question, { maxItems: MAX_BATCH_COUNT }),
]);
export const Decisions = Type.Union([
  Type.Object({ results: Type.Array(Decision) }),
  Type.Array(Decision),
]);

export const MAX_LIST_COUNT = 1_000;
export const Count = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, default: 100, description: `at most ${MAX_LIST_COUNT}` }),
  ),
};

/** Of a service with limits. */
export const CostOfRoute = Type.Object({
  service: Type.String(),
  method: Type.String(),
  path: Type.String(),
  resource: Type.String(),
  cost: Type.Integer(),
  points: Type.Integer(),
  content: Type.Boolean(),
  heavy: Type.Integer(),
  exempt: Type.Boolean(),
});

export const Usage = Type.Object({
  identity: Type.String(),
  buckets: Type.Record(Type.String(), Bucket),
  secondary: Type.Object({}),
  ban: Nullable(Type.Object({ until: Type.Integer(), level: Type.Integer() })),
});
