import {
  bytesResponse,
  type Clock,
  emptyResponse,
  type FieldError,
  githubResponse,
  type HttpRequest,
  invalidField,
  isoSeconds,
  maskUrlAndQuery,
  OpenApi,
  operatorRoute,
  queryOf,
  type Random,
  type Route,
  ValidationFailed,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { DeliveryEngine } from '../domain/delivery/delivery-engine.js';
import type { DeliveryFiguresView } from '../domain/delivery-figures.js';
import type { DeliveryLog } from '../domain/delivery-log.js';
import type { FindAppId } from '../domain/event-rules.js';
import type { HookRegistry } from '../domain/hook-registry.js';
import { type HookRules, isUsableSecret, makeSecret } from '../domain/hook-rules.js';
import type { QueueView } from '../domain/queue-view.js';
import type { Redelivery } from '../domain/redelivery.js';
import { webhookError } from '../errors.js';
import type { QueueItem, QueueState } from '../model/event.js';
import type { Hook } from '../model/hook.js';
import type { WebhookConventions } from './conventions.js';
import { ListQuery, Redrive, Rotation } from './description.js';
import { linkHeaders } from './link-header.js';
import { readFilter, readListQuery } from './list-query.js';
import { detailBytes, operatorDetail, operatorSummary } from './to-wire.js';

export interface QueueRouteDeps {
  readonly conventions: WebhookConventions;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: HookRegistry;
  readonly rules: HookRules;
  readonly engine: DeliveryEngine;
  readonly redelivery: Redelivery;
  readonly deliveries: DeliveryLog;
  readonly figures: DeliveryFiguresView;
  readonly queue: QueueView;
  readonly findAppId: FindAppId;
  readonly ping: (hook: Hook) => Promise<string | undefined>;
}

const MAX_LISTED_COUNT = 100;

const { response, json, ref } = OpenApi;
const REFUSED = { 422: 'a value was rejected' } as const;
const ROTATED = Type.Object({
  secret: Type.Optional(Type.String()),
  old_secret_valid_until: Type.String({ format: 'date-time' }),
});
const MAX_TARGET_LENGTH = 2048;
const CHECKED = Type.Object({ allowed: Type.Boolean(), problem: OpenApi.nullable(Type.String()) });
const HISTORY = Type.Object({
  start: Type.String({ format: 'date-time' }),
  bucket_seconds: Type.Integer(),
  succeeded: Type.Array(Type.Integer()),
  failed: Type.Array(Type.Integer()),
});
const REDRIVEN = Type.Object({ matched: Type.Integer(), queued: Type.Integer() });
const APP = '/apps/:app';

/**
 * Returns the operator routes for one app's webhook and its queue. Source: webhooks, sections 9 and
 * 10.
 */
export function queueRoutes(deps: QueueRouteDeps): readonly Route[] {
  return [
    operatorRoute('GET', '/webhook-targets', {
      about: {
        summary: 'Check whether the server delivers to a URL',
        description: 'Only the scheme, the host and the port are checked, so omit the rest.',
      },
      input: { query: Type.Object({ url: Type.String({ maxLength: MAX_TARGET_LENGTH }) }) },
      output: { 200: response('the result', json(CHECKED)) },
      handle(_request, { query: { url } }) {
        const problem = deps.rules.targetProblem(url) ?? null;
        return githubResponse(200, { allowed: problem === null, problem });
      },
    }),
    operatorRoute('GET', '/deliveries/history', {
      about: {
        summary: 'Count the deliveries of all apps in the last six hours',
        description: 'Counts by time bucket, oldest first. The last bucket is the current one.',
      },
      output: { 200: response('the counts', json(HISTORY)) },
      async handle() {
        return githubResponse(200, await deps.figures.totalHistory());
      },
    }),
    operatorRoute('POST', `${APP}/ping`, {
      about: { summary: 'Send a ping event' },
      output: { 202: response('ping queued', json(Type.Object({ guid: Type.String() }))) },
      errors: { 422: 'the webhook has no URL, or is not active' },
      async handle(request) {
        const hook = await requestedHook(request, deps);
        refuseUnpingable(hook);
        return githubResponse(202, { guid: await deps.ping(hook) });
      },
    }),
    operatorRoute('POST', `${APP}/secret/rotate`, {
      about: { summary: "Rotate the webhook's secret" },
      input: { body: Rotation },
      output: {
        200: response('the secret, shown once and only if the server generated it', json(ROTATED)),
      },
      errors: REFUSED,
      async handle(request, { body }) {
        return githubResponse(
          200,
          await rotateSecret(await requestedHook(request, deps), body, deps),
        );
      },
    }),
    operatorRoute('GET', `${APP}/queue`, {
      about: { summary: 'Count queued deliveries by state' },
      output: { 200: response('counts', json(Type.Object({}))) },
      async handle(request) {
        return githubResponse(200, await queueToWire(await requestedHook(request, deps), deps));
      },
    }),
    ...deliveryRoutes(deps),
  ];
}

function deliveryRoutes(deps: QueueRouteDeps): readonly Route[] {
  const { conventions, deliveries, queue, redelivery } = deps;
  const idOf = ({ parameters }: HttpRequest): number => {
    const id = Number(parameters['delivery']);
    if (!Number.isSafeInteger(id)) throw webhookError('resource_missing');
    return id;
  };
  return [
    operatorRoute('GET', `${APP}/deliveries`, {
      about: { summary: 'List deliveries, or unfinished deliveries if `state` is set' },
      input: {
        query: Type.Object({
          ...ListQuery.properties,
          state: Type.Optional(
            Type.String({ description: 'one or more of pending, leased, dead' }),
          ),
        }),
        validation: 'clients write values in different forms',
      },
      output: { 200: response('a page of deliveries', json(Type.Array(ref('OperatorDelivery')))) },
      errors: { ...REFUSED, 400: 'the cursor does not belong to this list' },
      async handle(request) {
        const { appId } = await requestedHook(request, deps);
        const parameters = new URLSearchParams(queryOf(request.url));
        const states = parameters.get('state');
        if (states !== null) {
          const items = await queue.list(appId, readStates(states), MAX_LISTED_COUNT);
          return githubResponse(200, items.map(itemToWire));
        }
        const { limit, fromId, filter } = readListQuery(parameters, false);
        const page = await deliveries.list(appId, filter, fromId, limit);
        const links = linkHeaders(`${conventions.baseUrl(request)}${request.url}`, page);
        return githubResponse(200, page.items.map(operatorSummary), links);
      },
    }),
    operatorRoute('GET', `${APP}/deliveries/:delivery`, {
      about: { summary: 'Get a delivery with its exact error' },
      output: { 200: response('the delivery', json(ref('DeliveryDetail'))) },
      async handle(request) {
        const { appId } = await requestedHook(request, deps);
        const delivery = await deliveries.get(appId, idOf(request));
        if (delivery === undefined) throw webhookError('resource_missing');
        const url = maskUrlAndQuery(delivery.url);
        const body = detailBytes({ ...delivery, url }, operatorDetail(delivery));
        return bytesResponse(200, 'application/json; charset=utf-8', body);
      },
    }),
    operatorRoute('POST', `${APP}/deliveries/:delivery/attempts`, {
      about: { summary: 'Redeliver a delivery' },
      output: { 202: response('redelivery queued') },
      errors: { 422: 'it cannot be redelivered' },
      async handle(request) {
        const { appId } = await requestedHook(request, deps);
        await redelivery.request(appId, idOf(request));
        return emptyResponse(202);
      },
    }),
    operatorRoute('POST', `${APP}/redrive`, {
      about: {
        summary: 'Redeliver dead events, or failed events without a later success',
      },
      input: { body: Redrive, isBodyOptional: true },
      output: { 202: response('the number of events', json(REDRIVEN)) },
      errors: REFUSED,
      async handle(request, { body: { state, dry_run: isDryRun = false, ...filter } }) {
        const { appId } = await requestedHook(request, deps);
        const matched =
          state === 'dead'
            ? await redelivery.redriveDead(appId, isDryRun)
            : await redelivery.redriveMatching(appId, redriveFilter(filter), isDryRun);
        return githubResponse(202, { matched, queued: isDryRun ? 0 : matched });
      },
    }),
  ];
}

/** Returns the queue counts by state, and the delivery state of the receiver. */
export async function queueToWire(
  hook: Hook,
  { engine, queue }: Pick<QueueRouteDeps, 'engine' | 'queue'>,
): Promise<object> {
  const { counts, oldestDueMs } = await queue.describe(hook.appId);
  return {
    ...counts,
    oldest_due_at: oldestDueMs === undefined ? null : isoSeconds(oldestDueMs),
    host: engine.describeHost(hook) ?? null,
  };
}

async function requestedHook({ parameters }: HttpRequest, deps: QueueRouteDeps): Promise<Hook> {
  const hook = await hookOf(parameters['app'] ?? '', deps);
  if (hook === undefined) throw webhookError('resource_missing');
  return hook;
}

/** @param app the id or client id of an app. */
export async function hookOf(
  app: string,
  { findAppId, hooks }: Pick<QueueRouteDeps, 'findAppId' | 'hooks'>,
): Promise<Hook | undefined> {
  const selector = /^[1-9]\d{0,14}$/.test(app) ? { id: Number(app) } : { client_id: app };
  const appId = await findAppId(selector);
  return appId === undefined ? undefined : hooks.get(appId);
}

function refuseUnpingable({ url, active }: Hook): void {
  if (url === '') {
    throw new ValidationFailed([{ resource: 'Hook', field: 'url', code: 'missing_field' }]);
  }
  if (active) return;
  throw invalidField({ resource: 'Hook', field: 'active', message: 'The webhook is not active' });
}

async function rotateSecret(
  { appId }: Hook,
  { secret, overlap_seconds: overlapSec = 86_400, sign_with: signWith = 'new' }: Rotation,
  { hooks, clock, random }: QueueRouteDeps,
): Promise<object> {
  if (secret !== undefined && !isUsableSecret(secret)) {
    throw new ValidationFailed([{ resource: 'Hook', field: 'secret', code: 'invalid' }]);
  }
  const fresh = secret ?? makeSecret(random);
  const untilMs = clock.nowMs() + overlapSec * 1000;
  await hooks.changeSecrets(appId, ({ current, previous: _, ...rest }) => ({
    ...rest,
    current: fresh,
    ...(current !== undefined &&
      overlapSec > 0 && { previous: { text: current, untilMs, signs: signWith === 'old' } }),
  }));
  return {
    // The secret is returned only once, and only if the server generated it.
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

function redriveFilter(given: Omit<Redrive, 'state' | 'dry_run'>): ReturnType<typeof readFilter> {
  const errors: FieldError[] = [];
  // Without a filter, only failed deliveries are sent again.
  const named = Object.entries({ status: 'failure', ...given });
  const known = named.filter(([name]) => Object.hasOwn(Redrive.properties, name));
  const filter = readFilter(new URLSearchParams(known), errors);
  if (errors.length > 0) throw new ValidationFailed(errors);
  return filter;
}
