import {
  type Clock,
  githubResponse,
  invalidField,
  OpenApi,
  operatorRoute,
  type Route,
  requestError,
  ValidationFailed,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { WebhooksConfig } from '../config.js';
import { checkEvent, type FindAppId, type FindInstallationApp } from '../domain/event-rules.js';
import type { InternalEvents } from '../domain/internal-events.js';
import type { PayloadProcessor } from '../domain/payload/payload-processor.js';
import type { EventRequest, Publisher, PublishOutcome } from '../domain/publisher.js';
import { isWebhookError, statusOf } from './to-wire.js';

export interface EventRouteDeps {
  readonly config: WebhooksConfig;
  readonly clock: Clock;
  readonly publisher: Publisher;
  readonly payloads: PayloadProcessor;
  /** Absent if the server's own events are not published. */
  readonly internalEvents: InternalEvents | undefined;
  readonly findAppId: FindAppId;
  readonly findInstallationApp: FindInstallationApp;
}

const { response, json, ref } = OpenApi;
const BY_RULES = 'event rules depend on apps and installations';
const MAX_BATCH_COUNT = 1000;
/** Space for the members around a payload of the maximum size. */
const ENVELOPE_BYTES = 65_536;
const MAX_BATCH_SIZE_BYTES = 64 * 1024 * 1024;

const MAX_FOUND_COUNT = 100;
const MAX_IDS_LENGTH = 10_000;
const PUBLISHED = Type.Object({
  id: Type.String(),
  guid: Type.String(),
  targets: Type.Array(Type.Object({ app_id: Type.Integer(), hook_id: Type.Integer() })),
});

/** Returns the routes that publish events of operators. Source: webhooks, section 8.1. */
export function eventRoutes(deps: EventRouteDeps): readonly Route[] {
  const { publisher, payloads, config, clock, internalEvents } = deps;
  const { findAppId, findInstallationApp } = deps;
  const maxBytes = config.max_payload_bytes + ENVELOPE_BYTES;
  return [
    operatorRoute('POST', '/events', {
      maxBytes,
      about: { summary: 'Publish an event' },
      input: {
        headers: Type.Object({ 'Idempotency-Key': Type.Optional(Type.String()) }),
        body: ref('Event'),
        validation: BY_RULES,
      },
      output: { 202: response('accepted', json(ref('Accepted'))) },
      errors: {
        409: 'the idempotency key was used for another event',
        422: 'a value was rejected',
        429: 'the queue of an app is full',
      },
      async handle({ body, headers }) {
        const read = await payloads.read(body);
        const headerKey = headers['idempotency-key'];
        const event = await checkEvent(read, {
          nowMs: clock.nowMs(),
          findAppId,
          findInstallationApp,
          ...(headerKey !== undefined && { headerKey }),
        });
        const outcome = await publisher.publish(event);
        if ('refused' in outcome) throw outcome.refused;
        return githubResponse(202, outcome.response);
      },
    }),
    operatorRoute('GET', '/events/internal', {
      about: {
        summary: "Find deliveries of the server's own events in the last day",
        description: `Up to ${MAX_FOUND_COUNT} ids, separated by commas. Events that no app received are left out.`,
      },
      input: { query: Type.Object({ ids: Type.String({ maxLength: MAX_IDS_LENGTH }) }) },
      output: { 200: response('the events', json(Type.Array(PUBLISHED))) },
      errors: { 422: 'there are too many ids' },
      async handle(_request, { query: { ids } }) {
        const named = ids.split(',').filter((id) => id !== '');
        if (named.length > MAX_FOUND_COUNT) {
          const message = `ids can contain at most ${MAX_FOUND_COUNT} ids`;
          throw invalidField({ resource: 'Event', field: 'ids', message });
        }
        return githubResponse(200, (await internalEvents?.published(named)) ?? []);
      },
    }),
    operatorRoute('POST', '/events/batch', {
      maxBytes: Math.max(MAX_BATCH_SIZE_BYTES, maxBytes),
      about: {
        summary: `Publish up to ${MAX_BATCH_COUNT} events, as an array or one per line`,
      },
      input: { body: Type.Array(ref('Event')), validation: BY_RULES },
      output: {
        202: response(
          'the result of each event, in request order',
          json(Type.Array(Type.Union([ref('Accepted'), ref('Failure')]))),
        ),
      },
      errors: { 422: 'the batch has too many events' },
      handle: async ({ body }) => githubResponse(202, await publishBatch(body, deps)),
    }),
  ];
}

/** @returns the result of each event, in request order. */
async function publishBatch(body: Uint8Array, deps: EventRouteDeps): Promise<readonly object[]> {
  const { publisher, payloads, clock } = deps;
  const items = await payloads.readBatch(body, MAX_BATCH_COUNT);
  if (items === 'many') {
    const message = `a batch can contain at most ${MAX_BATCH_COUNT} events`;
    throw invalidField({ resource: 'Event', field: 'batch', message });
  }
  const nowMs = clock.nowMs();
  const finders = {
    findAppId: memoize(deps.findAppId),
    findInstallationApp: memoize(deps.findInstallationApp),
  };
  const read = await Promise.all(
    items.map(async (item): Promise<EventRequest | { failed: unknown }> => {
      try {
        if ('failed' in item) throw requestError('json_unreadable', item.failed);
        return await checkEvent(item, { nowMs, ...finders });
      } catch (failed) {
        return { failed };
      }
    }),
  );
  const good = read.filter((one): one is EventRequest => !('failed' in one));
  const outcomes = await publisher.publishBatch(good);
  let next = 0;
  return read.map(
    (one) =>
      'failed' in one
        ? failureToWire(one.failed)
        : outcomeToWire(outcomes[next++] as PublishOutcome), // one for each good event
  );
}

/** Caches lookups within one batch, where the same names repeat. */
function memoize<K, V>(find: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const lookups = new Map<string, Promise<V>>();
  return (key) => {
    const name = JSON.stringify(key);
    let value = lookups.get(name);
    if (value === undefined) {
      value = find(key);
      lookups.set(name, value);
    }
    return value;
  };
}

function outcomeToWire(outcome: PublishOutcome): object {
  return 'refused' in outcome ? failureToWire(outcome.refused) : outcome.response;
}

function failureToWire(error: unknown): object {
  if (error instanceof ValidationFailed) {
    return { message: error.message, errors: error.errors, status: '422' };
  }
  if (isWebhookError(error)) return { message: error.message, status: String(statusOf(error)) };
  throw error;
}
