import {
  bytesAnswer,
  type Clock,
  emptyAnswer,
  type FieldError,
  type HttpAnswer,
  type HttpRequest,
  jsonObjectOf,
  maskUrlAndQuery,
  OpenApi,
  platformAnswer,
  queryOf,
  type Random,
  type Route,
  type RouteMethod,
  ValidationFailed,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { DeliveryLog } from '../domain/delivery-log.js';
import type { Engine } from '../domain/engine/engine.js';
import type { FindAppId } from '../domain/event-rules.js';
import type { HookRegistry } from '../domain/hook-registry.js';
import { makeSecret } from '../domain/hook-rules.js';
import type { Fields } from '../domain/payload/event-body.js';
import { isoSeconds } from '../domain/ping.js';
import type { QueueView } from '../domain/queue-view.js';
import type { Redelivery } from '../domain/redelivery.js';
import { webhookError } from '../errors.js';
import type { QueueItem, QueueState } from '../model/event.js';
import type { Hook } from '../model/hook.js';
import { ListQuery, Redrive, Rotation } from './description.js';
import type { WebhookDialect } from './dialect.js';
import { linkHeaders } from './link-header.js';
import { readFilter, readListQuery } from './list-query.js';
import { detailBytes, summaryToWire } from './to-wire.js';

export interface QueueRouteNeeds {
  readonly dialect: WebhookDialect;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: HookRegistry;
  readonly engine: Engine;
  readonly redelivery: Redelivery;
  readonly deliveries: DeliveryLog;
  readonly queue: QueueView;
  readonly findAppId: FindAppId;
  readonly ping: (hook: Hook) => Promise<string | undefined>;
}

const MAX_BODY_BYTES = 1_048_576;
const MAX_OVERLAP_SEC = 30 * 86_400;
const MAX_LISTED_COUNT = 100;

const { answer, json, ref } = OpenApi;
const REFUSED = { 422: 'a value was refused' } as const;

type HandleHook = (hook: Hook, request: HttpRequest) => Promise<HttpAnswer>;
type Words = Pick<Route, 'input' | 'output' | 'errors'> & { readonly summary: string };
type MakeRoute = (method: RouteMethod, path: string, words: Words, handle: HandleHook) => Route;

/** What operators see and do of one app's webhook and its queue. Source: webhooks, sections 9 and 10. */
export function queueRoutes(needs: QueueRouteNeeds): readonly Route[] {
  const { engine, queue } = needs;
  const route: MakeRoute = (method, path, { summary, ...words }, handle) => ({
    ...words,
    about: { summary },
    method,
    path: `/ops/v1/apps/:app${path}`,
    access: 'admin',
    ...(method === 'POST' && { body: { maxBytes: MAX_BODY_BYTES } }),
    handle: async (request) => await handle(await hookOf(request, needs), request),
  });
  return [
    route('POST', '/ping', PING, async (hook) => {
      refuseUnpingable(hook);
      return platformAnswer(202, { guid: await needs.ping(hook) });
    }),
    route('POST', '/secret/rotate', ROTATE, async (hook, { body }) =>
      platformAnswer(200, await rotateSecret(hook, jsonObjectOf(body), needs)),
    ),
    route('GET', '/queue', QUEUE, async (hook) => {
      const { counts, oldestDueMs } = await queue.describe(hook.appId);
      return platformAnswer(200, {
        ...counts,
        oldest_due_at: oldestDueMs === undefined ? null : isoSeconds(oldestDueMs),
        host: engine.describeHost(hook) ?? null,
      });
    }),
    ...deliveryRoutes(route, needs),
  ];
}

const PING: Words = {
  summary: 'Send the event ping',
  output: { 202: answer('it will be sent', json(Type.Object({ guid: Type.String() }))) },
  errors: { 422: 'the webhook has no URL, or is not active' },
};
const ROTATE: Words = {
  summary: 'Give the webhook a new secret',
  input: { body: Rotation, judged: 'what is wrong with a secret is not told back' },
  output: {
    200: answer(
      'the secret if it was made here, shown this once',
      json(
        Type.Object({
          secret: Type.Optional(Type.String()),
          old_secret_valid_until: Type.String({ format: 'date-time' }),
        }),
      ),
    ),
  },
  errors: REFUSED,
};
const QUEUE: Words = {
  summary: 'What waits, by state',
  output: { 200: answer('counts', json(Type.Object({}))) },
};
const LIST: Words = {
  summary: 'Deliveries, or with `state` what is not finished',
  input: {
    query: Type.Object({
      ...ListQuery.properties,
      state: Type.Optional(Type.String({ description: 'of pending, leased, dead' })),
    }),
    judged: 'clients differ in how they spell values',
  },
  output: { 200: answer('a page of them', json(Type.Array(ref('Delivery')))) },
  errors: { ...REFUSED, 400: 'the cursor is none of this list' },
};
const SHOW: Words = {
  summary: 'A delivery with the exact error',
  output: { 200: answer('the delivery', json(ref('DeliveryDetail'))) },
};
const AGAIN: Words = {
  summary: 'Deliver again',
  output: { 202: answer('it will be') },
  errors: { 422: 'it cannot be sent again' },
};
const REDRIVE: Words = {
  summary: 'Deliver again what is dead, or what failed and has not been delivered since',
  input: { body: Redrive, isBodyOptional: true, judged: 'its filters are those of the list' },
  output: {
    202: answer('how many', json(Type.Object({ matched: Type.Integer(), queued: Type.Integer() }))),
  },
  errors: REFUSED,
};

function deliveryRoutes(
  route: MakeRoute,
  { dialect, deliveries, queue, redelivery }: QueueRouteNeeds,
): readonly Route[] {
  const idOf = ({ parameters }: HttpRequest): number => {
    const id = Number(parameters['delivery']);
    if (!Number.isSafeInteger(id)) throw webhookError('resource_missing');
    return id;
  };
  return [
    route('GET', '/deliveries', LIST, async ({ appId }, request) => {
      const parameters = new URLSearchParams(queryOf(request.url));
      const states = parameters.get('state');
      if (states !== null) {
        const items = await queue.list(appId, readStates(states), MAX_LISTED_COUNT);
        return platformAnswer(200, items.map(itemToWire));
      }
      const { limit, fromId, filter } = readListQuery(parameters, false);
      const page = await deliveries.list(appId, filter, fromId, limit);
      const links = linkHeaders(`${dialect.baseUrl(request)}${request.url}`, page);
      return platformAnswer(200, page.items.map(summaryToWire), links);
    }),
    route('GET', '/deliveries/:delivery', SHOW, async ({ appId }, request) => {
      const delivery = await deliveries.get(appId, idOf(request));
      if (delivery === undefined) throw webhookError('resource_missing');
      const url = maskUrlAndQuery(delivery.url);
      const body = detailBytes({ ...delivery, url }, { error: delivery.error ?? null });
      return bytesAnswer(200, 'application/json; charset=utf-8', body);
    }),
    route('POST', '/deliveries/:delivery/attempts', AGAIN, async ({ appId }, request) => {
      await redelivery.request(appId, idOf(request));
      return emptyAnswer(202);
    }),
    route('POST', '/redrive', REDRIVE, async ({ appId }, { body }) => {
      const fields = jsonObjectOf(body);
      const isDryRun = fields['dry_run'] === true;
      const matched =
        fields['state'] === 'dead'
          ? await redelivery.redriveDead(appId, isDryRun)
          : await redelivery.redriveMatching(appId, readRedrive(fields), isDryRun);
      return platformAnswer(202, { matched, queued: isDryRun ? 0 : matched });
    }),
  ];
}

async function hookOf(
  { parameters }: HttpRequest,
  { findAppId, hooks }: QueueRouteNeeds,
): Promise<Hook> {
  const { app = '' } = parameters;
  const selector = /^[1-9]\d{0,14}$/.test(app) ? { id: Number(app) } : { client_id: app };
  const appId = await findAppId(selector);
  const hook = appId === undefined ? undefined : hooks.get(appId);
  if (hook === undefined) throw webhookError('resource_missing');
  return hook;
}

function refuseUnpingable({ url, active }: Hook): void {
  if (url === '') {
    throw new ValidationFailed([{ resource: 'Hook', field: 'url', code: 'missing_field' }]);
  }
  if (active) return;
  const message = 'The webhook is not active';
  throw new ValidationFailed([{ resource: 'Hook', field: 'active', code: 'custom', message }]);
}

async function rotateSecret(
  { appId }: Hook,
  fields: Fields,
  { hooks, clock, random }: QueueRouteNeeds,
): Promise<object> {
  const { secret, overlapSec, signsWithOld } = readRotation(fields);
  const fresh = secret ?? makeSecret(random);
  const untilMs = clock.nowMs() + overlapSec * 1000;
  await hooks.changeSecrets(appId, ({ current, previous: _, ...rest }) => ({
    ...rest,
    current: fresh,
    ...(current !== undefined &&
      overlapSec > 0 && { previous: { text: current, untilMs, signs: signsWithOld } }),
  }));
  return {
    // Shown once, and only when it was made here.
    ...(secret === undefined && { secret: fresh }),
    old_secret_valid_until: isoSeconds(untilMs),
  };
}

const itemToWire = (item: QueueItem & { readonly state: QueueState }): object => ({
  queue_id: item.id,
  guid: item.guid,
  state: item.state === 'held' ? 'pending' : item.state,
  kind: item.kind,
  attempt: item.attemptNo,
  due_at: isoSeconds(item.dueMs),
  event: item.event,
  action: item.action ?? null,
  ordering_key: item.orderingKey ?? null,
});

function readRotation(fields: Fields): {
  readonly secret: string | undefined;
  readonly overlapSec: number;
  readonly signsWithOld: boolean;
} {
  const errors: FieldError[] = [];
  const { secret, overlap_seconds: overlap = 86_400, sign_with: sign = 'new' } = fields;
  const bad = (field: string, value: unknown) =>
    errors.push({ resource: 'Hook', field, code: 'invalid', value });
  const isSecret =
    secret === undefined ||
    (typeof secret === 'string' && secret !== '' && Buffer.byteLength(secret) <= 1024);
  if (!isSecret) errors.push({ resource: 'Hook', field: 'secret', code: 'invalid' });
  const isOverlap =
    typeof overlap === 'number' &&
    Number.isInteger(overlap) &&
    overlap >= 0 &&
    overlap <= MAX_OVERLAP_SEC;
  if (!isOverlap) bad('overlap_seconds', overlap);
  if (sign !== 'new' && sign !== 'old') bad('sign_with', sign);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return {
    secret: typeof secret === 'string' ? secret : undefined,
    overlapSec: Number(overlap),
    signsWithOld: sign === 'old',
  };
}

function readStates(text: string): readonly QueueState[] {
  const states = text.split(',').flatMap((state): QueueState[] => {
    if (state === 'pending') return ['pending', 'held'];
    return state === 'dead' || state === 'leased' ? [state] : [];
  });
  if (states.length > 0) return states;
  throw new ValidationFailed([
    { resource: 'HookDelivery', field: 'state', code: 'invalid', value: text },
  ]);
}

function readRedrive(fields: Fields): ReturnType<typeof readFilter> {
  const errors: FieldError[] = [];
  // `dead` is read before; the other states are of items that will be sent anyway.
  if (fields['state'] !== undefined) {
    const { state: value } = fields;
    errors.push({ resource: 'HookDelivery', field: 'state', code: 'invalid', value });
  }
  const parameters = new URLSearchParams();
  for (const name of ['status', 'since', 'until', 'event', 'action', 'guid']) {
    const value = fields[name];
    if (typeof value === 'string') parameters.set(name, value);
    else if (value !== undefined) {
      errors.push({ resource: 'HookDelivery', field: name, code: 'invalid', value });
    }
  }
  // Without a word about it, only what failed is sent again.
  if (!parameters.has('status')) parameters.set('status', 'failure');
  const filter = readFilter(parameters, errors);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return filter;
}
