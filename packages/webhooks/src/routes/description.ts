import { type ApiDocs, OpenApi, PER_PAGE } from '@plinth/kernel';
import { type Static, type TSchema, Type } from 'typebox';

const { nullable } = OpenApi;
const time = Type.String({ format: 'date-time' });
const maybe = Type.Optional;
const id = Type.Integer();
const some = Type.Object({});

const Summary = {
  id,
  guid: Type.String({ format: 'uuid' }),
  delivered_at: time,
  redelivery: Type.Boolean(),
  duration: Type.Number({ description: 'seconds' }),
  status: Type.String(),
  status_code: id,
  event: Type.String(),
  action: nullable(Type.String()),
  installation_id: nullable(id),
  repository_id: nullable(id),
  throttled_at: nullable(Type.String()),
  url: Type.String(),
};

const attempt = nullable(
  Type.Integer({
    description: 'attempt number, from 1 for each delivery and redelivery; for operators only',
  }),
);

const Config = Type.Object({
  content_type: maybe(OpenApi.oneOf(['json', 'form'])),
  insecure_ssl: maybe({ type: ['string', 'number'], enum: ['0', '1', 0, 1] } as TSchema),
  secret: maybe(nullable(Type.String({ description: 'shown as ********' }))),
  url: maybe(Type.String({ format: 'uri' })),
  active: maybe(
    Type.Boolean({
      description: 'present when the server disabled the webhook; send true to enable it',
    }),
  ),
  disabled_reason: maybe(Type.String({ description: 'why the server disabled the webhook' })),
  disabled_at: maybe(time),
});

const Event = Type.Object({
  event: Type.String({ pattern: '^[a-z0-9_.-]{1,100}$' }),
  action: maybe(nullable(Type.String())),
  payload: some,
  installation_id: maybe(nullable(id)),
  repository_id: maybe(nullable(id)),
  app_id: maybe(id),
  client_id: maybe(Type.String()),
  app_ids: maybe(Type.Array(id)),
  id: maybe(Type.String({ description: 'idempotency key, valid for one day' })),
  ordering_key: maybe(Type.String()),
  deliver_at: maybe(time),
});

/** Event bodies are validated by `event-rules.ts`, which needs the apps. */
export const WEBHOOKS_API: ApiDocs = {
  title: 'Plinth webhook service',
  description:
    'App webhooks and their deliveries, compatible with GitHub App webhooks. Operators can also publish events and inspect queues.',
  schemas: () => ({
    Config,
    Delivery: Type.Object(Summary),
    DeliveryDetail: Type.Object({
      ...Summary,
      request: Type.Object({ headers: nullable(some), payload: nullable(some) }),
      response: Type.Object({ headers: nullable(some), payload: nullable(Type.String()) }),
      error: maybe(nullable(Type.String({ description: 'exact error, for operators only' }))),
      attempt: maybe(attempt),
      response_bytes: maybe(
        nullable(
          Type.Integer({ description: 'size of the stored response body; for operators only' }),
        ),
      ),
      response_truncated: maybe(
        nullable(
          Type.Boolean({
            description:
              'whether the stored response body is only its beginning; null without a response and in records of earlier versions; for operators only',
          }),
        ),
      ),
    }),
    OperatorDelivery: Type.Object({ ...Summary, attempt }),
    Event,
    Accepted: Type.Object({
      guid: Type.String(),
      accepted_at: time,
      targets: Type.Array(some),
      duplicate: maybe(Type.Boolean()),
    }),
    App: Type.Object({
      id,
      client_id: Type.String(),
      slug: Type.String(),
      name: Type.String(),
      owner: nullable(some),
      events: Type.Array(Type.String()),
      permissions: some,
      created_at: time,
      updated_at: time,
      node_id: Type.String(),
      description: Type.Null(),
      external_url: Type.String(),
      html_url: Type.String(),
    }),
  }),
};

/** Query parameters of all delivery lists. */
export const ListQuery = Type.Object({
  per_page: PER_PAGE,
  cursor: maybe(Type.String()),
  redelivery: maybe(Type.Boolean()),
  status: maybe(OpenApi.oneOf(['success', 'failure'])),
  event: maybe(Type.String()),
  action: maybe(Type.String()),
  guid: maybe(Type.String()),
  installation_id: maybe(id),
  repository_id: maybe(id),
  since: maybe(time),
  until: maybe(time),
});

export const Rotation = Type.Object(
  {
    secret: maybe(
      Type.String({ minLength: 1, writeOnly: true, description: 'generated when absent' }),
    ),
    overlap_seconds: maybe(Type.Integer({ minimum: 0, maximum: 30 * 86_400, default: 86_400 })),
    sign_with: maybe(Type.Enum(['new', 'old'], { default: 'new' })),
  },
  { title: 'Hook', additionalProperties: false },
);
export type Rotation = Static<typeof Rotation>;

export const Redrive = Type.Object(
  {
    // Items in other states are sent anyway.
    state: maybe(Type.Literal('dead')),
    dry_run: maybe(Type.Boolean({ default: false })),
    status: maybe(Type.Enum(['success', 'failure'], { default: 'failure' })),
    since: maybe(Type.String()),
    until: maybe(Type.String()),
    event: maybe(Type.String()),
    action: maybe(Type.String()),
    guid: maybe(Type.String()),
  },
  { title: 'HookDelivery', additionalProperties: false },
);
export type Redrive = Static<typeof Redrive>;
