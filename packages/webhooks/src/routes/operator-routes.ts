import {
  type Clock,
  type FieldError,
  JsonUnreadable,
  maskUrlAndQuery,
  type Random,
  routesFor,
  ValidationFailed,
} from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebhooksConfig } from '../config.js';
import type { DeliveryLog } from '../domain/delivery-log.js';
import type { Engine } from '../domain/engine/engine.js';
import { checkEvent, type FindAppId, type FindInstallationApp } from '../domain/event-rules.js';
import type { HookRegistry } from '../domain/hook-registry.js';
import { makeSecret } from '../domain/hook-rules.js';
import { type Fields, parseObject } from '../domain/payload/event-body.js';
import type { PayloadProcessor } from '../domain/payload/payload-processor.js';
import { isoSeconds } from '../domain/ping.js';
import type { EventRequest, Publisher, PublishOutcome } from '../domain/publisher.js';
import type { QueueView } from '../domain/queue-view.js';
import type { Redelivery } from '../domain/redelivery.js';
import { ResourceMissing } from '../errors.js';
import type { QueueState } from '../model/event.js';
import type { Hook } from '../model/hook.js';
import { linkHeader } from './link-header.js';
import { readFilter, readListQuery } from './list-query.js';
import { detailBytes, isWebhookError, statusOf, summaryToWire } from './to-wire.js';

export interface OperatorRouteNeeds {
  readonly config: WebhooksConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly hooks: HookRegistry;
  readonly engine: Engine;
  readonly publisher: Publisher;
  readonly payloads: PayloadProcessor;
  readonly redelivery: Redelivery;
  readonly deliveries: DeliveryLog;
  readonly queue: QueueView;
  readonly findAppId: FindAppId;
  readonly findInstallationApp: FindInstallationApp;
  readonly ping: (hook: Hook) => Promise<string | undefined>;
  readonly baseUrl: (request: FastifyRequest) => string;
  readonly answerError: (
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => FastifyReply;
}

interface OfApp {
  Params: { app: string };
}

const MAX_BATCH_COUNT = 1000;
/** Around a payload of the largest size. */
const ENVELOPE_BYTES = 65_536;
const MAX_BATCH_SIZE_BYTES = 64 * 1024 * 1024;
const MAX_OVERLAP_SEC = 30 * 86_400;
const MAX_LISTED_COUNT = 100;

/** Who may come here is decided in front. Source: webhooks, sections 8.1, 9 and 10. */
export function registerOperatorRoutes(app: FastifyInstance, needs: OperatorRouteNeeds): void {
  routesFor(app, 'admin');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => body);
  app.setErrorHandler((error, request, reply) => needs.answerError(error, request, reply));
  registerEventRoutes(app, needs);
  registerAppQueueRoutes(app, needs);
}

function registerEventRoutes(app: FastifyInstance, needs: OperatorRouteNeeds): void {
  const { publisher, payloads, config, clock, findAppId, findInstallationApp } = needs;
  const bodyLimit = config.max_payload_bytes + ENVELOPE_BYTES;

  app.post('/ops/v1/events', { bodyLimit }, async (request, reply) => {
    const read = await payloads.read(bytesOf(request.body));
    const headerKey = request.headers['idempotency-key'];
    const event = await checkEvent(read, {
      nowMs: clock.nowMs(),
      findAppId,
      findInstallationApp,
      ...(typeof headerKey === 'string' && { headerKey }),
    });
    const outcome = await publisher.publish(event);
    if ('refused' in outcome) throw outcome.refused;
    return send(reply, 202, outcome.answer);
  });

  const batchLimit = Math.max(MAX_BATCH_SIZE_BYTES, bodyLimit);
  app.post('/ops/v1/events/batch', { bodyLimit: batchLimit }, async (request, reply) => {
    const items = await payloads.readBatch(bytesOf(request.body), MAX_BATCH_COUNT);
    if (items === 'many') {
      const message = `a batch has at most ${MAX_BATCH_COUNT} events`;
      throw new ValidationFailed([{ resource: 'Event', field: 'batch', code: 'custom', message }]);
    }
    const nowMs = clock.nowMs();
    const finders = {
      findAppId: remembering(findAppId),
      findInstallationApp: remembering(findInstallationApp),
    };
    const read = await Promise.all(
      items.map(async (item): Promise<EventRequest | { failed: unknown }> => {
        try {
          if ('failed' in item) throw new JsonUnreadable(item.failed);
          return await checkEvent(item, { nowMs, ...finders });
        } catch (failed) {
          return { failed };
        }
      }),
    );
    const good = read.filter((one): one is EventRequest => !('failed' in one));
    const outcomes = await publisher.publishBatch(good);
    let next = 0;
    const answers = read.map((one) =>
      'failed' in one ? failureToWire(one.failed) : outcomeToWire(outcomes[next++]),
    );
    return send(reply, 202, answers);
  });
}

/** Within one batch the same names come again and again. */
function remembering<K, V>(find: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const found = new Map<string, Promise<V>>();
  return (key) => {
    const name = JSON.stringify(key);
    let value = found.get(name);
    if (value === undefined) {
      value = find(key);
      found.set(name, value);
    }
    return value;
  };
}

function registerAppQueueRoutes(app: FastifyInstance, needs: OperatorRouteNeeds): void {
  const { hooks, engine, redelivery, deliveries, queue, clock } = needs;
  const hookOf = async (request: FastifyRequest<OfApp>): Promise<Hook> => {
    const name = request.params.app;
    const selector = /^[1-9]\d{0,14}$/.test(name) ? { id: Number(name) } : { client_id: name };
    const appId = await needs.findAppId(selector);
    const hook = appId === undefined ? undefined : hooks.get(appId);
    if (hook === undefined) throw new ResourceMissing();
    return hook;
  };

  app.post<OfApp>('/ops/v1/apps/:app/ping', async (request, reply) => {
    const hook = await hookOf(request);
    if (hook.url === '') {
      throw new ValidationFailed([{ resource: 'Hook', field: 'url', code: 'missing_field' }]);
    }
    if (!hook.active) {
      const message = 'The webhook is not active';
      throw new ValidationFailed([{ resource: 'Hook', field: 'active', code: 'custom', message }]);
    }
    return send(reply, 202, { guid: await needs.ping(hook) });
  });

  app.post<OfApp>('/ops/v1/apps/:app/secret/rotate', async (request, reply) => {
    const hook = await hookOf(request);
    const fields = parseObject(textOf(request.body));
    const { secret, overlapSec, signsWithOld } = readRotation(fields);
    const fresh = secret ?? makeSecret(needs.random);
    const untilMs = clock.nowMs() + overlapSec * 1000;
    await hooks.changeSecrets(hook.appId, ({ current, previous: _, ...rest }) => ({
      ...rest,
      current: fresh,
      ...(current !== undefined &&
        overlapSec > 0 && { previous: { text: current, untilMs, signs: signsWithOld } }),
    }));
    return send(reply, 200, {
      // Shown once, and only when it was made here.
      ...(secret === undefined && { secret: fresh }),
      old_secret_valid_until: isoSeconds(untilMs),
    });
  });

  app.get<OfApp>('/ops/v1/apps/:app/queue', async (request, reply) => {
    const hook = await hookOf(request);
    const { counts, oldestDueMs } = await queue.describe(hook.appId);
    return send(reply, 200, {
      ...counts,
      oldest_due_at: oldestDueMs === undefined ? null : isoSeconds(oldestDueMs),
      host: engine.describeHost(hook) ?? null,
    });
  });

  app.get<OfApp>('/ops/v1/apps/:app/deliveries', async (request, reply) => {
    const hook = await hookOf(request);
    const parameters = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
    const states = parameters.get('state');
    if (states !== null) {
      const items = await queue.list(hook.appId, readStates(states), MAX_LISTED_COUNT);
      return send(
        reply,
        200,
        items.map((item) => ({
          queue_id: item.id,
          guid: item.guid,
          state: item.state === 'held' ? 'pending' : item.state,
          kind: item.kind,
          attempt: item.attemptNo,
          due_at: isoSeconds(item.dueMs),
          event: item.event,
          action: item.action ?? null,
          ordering_key: item.orderingKey ?? null,
        })),
      );
    }
    const { limit, fromId, filter } = readListQuery(parameters, false);
    const page = await deliveries.list(hook.appId, filter, fromId, limit);
    const link = linkHeader(`${needs.baseUrl(request)}${request.url}`, page);
    if (link !== undefined) reply.header('link', link);
    return send(reply, 200, page.items.map(summaryToWire));
  });

  app.get<{ Params: { app: string; delivery: string } }>(
    '/ops/v1/apps/:app/deliveries/:delivery',
    async (request, reply) => {
      const hook = await hookOf(request);
      const id = Number(request.params.delivery);
      const delivery = Number.isSafeInteger(id) ? await deliveries.get(hook.appId, id) : undefined;
      if (delivery === undefined) throw new ResourceMissing();
      const url = maskUrlAndQuery(delivery.url);
      const body = detailBytes({ ...delivery, url }, { error: delivery.error ?? null });
      return sendBytes(reply, 200, body);
    },
  );

  app.post<{ Params: { app: string; delivery: string } }>(
    '/ops/v1/apps/:app/deliveries/:delivery/attempts',
    async (request, reply) => {
      const hook = await hookOf(request);
      const id = Number(request.params.delivery);
      if (!Number.isSafeInteger(id)) throw new ResourceMissing();
      await redelivery.request(hook.appId, id);
      return reply.code(202).header('content-length', '0').send();
    },
  );

  app.post<OfApp>('/ops/v1/apps/:app/redrive', async (request, reply) => {
    const hook = await hookOf(request);
    const fields = parseObject(textOf(request.body));
    const isDryRun = fields['dry_run'] === true;
    const matched =
      fields['state'] === 'dead'
        ? await redelivery.redriveDead(hook.appId, isDryRun)
        : await redelivery.redriveMatching(hook.appId, readRedrive(fields), isDryRun);
    return send(reply, 202, { matched, queued: isDryRun ? 0 : matched });
  });
}

const send = (reply: FastifyReply, status: number, body: unknown): FastifyReply =>
  sendBytes(reply, status, Buffer.from(JSON.stringify(body)));

function sendBytes(reply: FastifyReply, status: number, body: Buffer): FastifyReply {
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(body);
}

const bytesOf = (body: unknown): Uint8Array => (Buffer.isBuffer(body) ? body : new Uint8Array(0));

const textOf = (body: unknown): string => (Buffer.isBuffer(body) ? body.toString() : '');

function outcomeToWire(outcome: PublishOutcome | undefined): object {
  if (outcome === undefined) return { status: 500, message: 'Server Error' };
  return 'refused' in outcome ? failureToWire(outcome.refused) : outcome.answer;
}

function failureToWire(error: unknown): object {
  if (error instanceof ValidationFailed) {
    return { message: error.message, errors: error.errors, status: '422' };
  }
  if (isWebhookError(error)) return { message: error.message, status: String(statusOf(error)) };
  throw error;
}

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
