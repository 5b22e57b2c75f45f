import { type ApiDocs, OpenApi } from '@plinth/kernel';
import { type Static, type TSchema, type TSchemaOptions, Type } from 'typebox';

export const RATE_LIMIT_API: ApiDocs = {
  title: 'Plinth limits',
  description: 'Remaining requests of callers, rate limit checks for other systems, and bans.',
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

const { nullable } = OpenApi;
/** Null counts as absent. */
const maybe = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema));
const amount = (options: TSchemaOptions = {}) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, ...options });
const text = (options: TSchemaOptions = {}) =>
  Type.String({ minLength: 1, maxLength: 8_192, ...options });

/** A dry run of this many requests needs about ten decisions. */
const MAX_SIMULATED_COUNT = 1_000;

export const CheckBody = Type.Object(
  {
    identity: Type.Optional(text({ examples: ['user:583231'] })),
    authorization: Type.Optional(
      text({ writeOnly: true, description: 'Authorization header of the checked request' }),
    ),
    ip: Type.Optional(text()),
    resource: maybe(text({ default: 'core' })),
    endpoint: maybe(text({ default: '*' })),
    method: maybe(text({ default: 'GET' })),
    cost: maybe(amount({ default: 1 })),
    points: maybe(amount({ description: 'derived from the method by default' })),
    content: maybe(Type.Boolean({ default: false })),
    content_per_minute: maybe(amount()),
    graph: Type.Optional(
      Type.Union([
        Type.Boolean(),
        Type.Object(
          { mutation: Type.Optional(Type.Boolean()), cost: Type.Optional(amount()) },
          { additionalProperties: false },
        ),
      ]),
    ),
    heavy: maybe(amount({ default: 0 })),
    lease: maybe(Type.Boolean({ description: 'hold a slot until `finish`' })),
    dry_run: maybe(Type.Boolean({ description: 'charge nothing' })),
    count: maybe(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SIMULATED_COUNT,
        default: 1,
        description: 'number of such requests one after another; only with `dry_run`',
      }),
    ),
    domain: maybe(Type.Literal('default')),
    objects: maybe(amount({ description: 'number of objects in a batch of large files' })),
  },
  { title: 'Check', additionalProperties: false },
);
export type CheckBody = Static<typeof CheckBody>;

export const Decision = Type.Object({
  allowed: Type.Boolean(),
  limit_kind: nullable(Type.String()),
  status: Type.Integer(),
  headers: Type.Record(Type.String(), Type.String()),
  body: nullable(Type.Object({})),
  retry_after: nullable(Type.Integer({ minimum: 1 })),
  lease_id: nullable(Type.String()),
  allowed_count: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'with `count`: number of allowed requests; the other members describe the first rejected one, or the last one',
    }),
  ),
});

/** One day. No request runs longer, and sums stay exact. */
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

/**
 * Rejects unknown members: otherwise, a misspelled duration would create a ban with another length.
 */
export const NewBan = Type.Object(
  {
    identity: Type.String(),
    duration_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_BAN_SEC,
        description: 'defaults to the duration of a first ban',
      }),
    ),
  },
  { additionalProperties: false },
);

export const MAX_BATCH_COUNT = 1_000;
/** A list, or an object with a list. */
export const CheckBatchBody = Type.Union([
  Type.Object({ checks: Type.Array(CheckBody, { maxItems: MAX_BATCH_COUNT }) }),
  Type.Array(CheckBody, { maxItems: MAX_BATCH_COUNT }),
]);
export const Decisions = Type.Union([
  Type.Object({ results: Type.Array(Decision) }),
  Type.Array(Decision),
]);

export const MAX_COUNT = 1_000;
export const USUAL_COUNT = 100;
export const Count = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, default: USUAL_COUNT, description: `at most ${MAX_COUNT}` }),
  ),
};

/** Cost of a route of a rate-limited service. */
export const CostOfRoute = Type.Object({
  service: Type.String(),
  method: Type.String(),
  path: Type.String(),
  endpoint: Type.String({ description: 'endpoint whose points are counted' }),
  resource: Type.String(),
  cost: Type.Integer(),
  points: Type.Integer(),
  content: Type.Boolean(),
  heavy: Type.Integer(),
  exempt: Type.Boolean(),
});

const RejectionCount = {
  current: Type.Integer({ description: 'rejected requests in the current hour' }),
  previous: Type.Integer({ description: 'rejected requests in the hour before' }),
  limits: Type.Record(Type.String(), Type.Integer(), {
    description: 'rejected requests of both hours by exceeded limit',
  }),
  last: Type.Integer({ description: 'time of the last rejected request, epoch seconds' }),
};

/** Rejected requests on this node. */
export const Rejections = Type.Object({
  window_start: Type.Integer({ description: 'start of the current hour, epoch seconds' }),
  window_seconds: Type.Integer(),
  rejected: Type.Array(Type.Object({ identity: Type.String(), ...RejectionCount })),
  identities: Type.Integer({ description: 'number of counted identities, listed or not' }),
  other_requests: Type.Integer({
    description: 'rejected requests of replaced identities',
  }),
});

export const Usage = Type.Object({
  identity: Type.String(),
  buckets: Type.Record(Type.String(), Bucket),
  secondary: Type.Object({}),
  ban: nullable(Type.Object({ until: Type.Integer(), level: Type.Integer() })),
  rejected: nullable(Type.Object(RejectionCount)),
});
