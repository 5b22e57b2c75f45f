import { createHash } from 'node:crypto';
import { BatchWriter, type Clock, type Logger, type Random } from '@plinth/kernel';
import { type WebhookError, webhookError } from '../errors.js';
import type { StoredEvent } from '../model/event.js';
import type { Hook } from '../model/hook.js';
import { type EncodedPayload, encodePayload } from '../storage/queue/payload-codec.js';
import type { AcceptOutcome, NewEvent, NewTarget } from '../storage/queue/queue-model.js';
import type { QueueStore } from '../storage/queue/queue-store.js';
import type { DeliveryEngine } from './delivery/delivery-engine.js';
import type { HookRegistry } from './hook-registry.js';
import type { ParsedPayload } from './payload/event-body.js';

/** A validated event to publish. */
export interface EventRequest {
  readonly event: string;
  readonly action: string | undefined;
  readonly payload: ParsedPayload;
  readonly installation_id: number | undefined;
  readonly repository_id: number | undefined;
  /** Undefined for all subscribed apps. */
  readonly appIds: readonly number[] | undefined;
  readonly idempotencyKey: string | undefined;
  readonly orderingKey: string | undefined;
  readonly deliverAtMs: number | undefined;
}

export interface EventResponse {
  readonly guid: string;
  readonly accepted_at: string;
  readonly targets: readonly { readonly app_id: number; readonly hook_id: number }[];
  readonly duplicate: boolean;
}

export type PublishOutcome =
  | { readonly response: EventResponse }
  | {
      readonly refused: WebhookError<'body_too_long' | 'idempotency_conflict' | 'queue_full'>;
    };

export interface PublisherSettings {
  readonly maxPayloadBytes: number;
  /** Whether to add `action` and `installation` to payloads that lack them. */
  readonly enrichesPayload: boolean;
}

interface PreparedEvent {
  readonly newEvent: NewEvent;
  readonly response: EventResponse;
  readonly sizeBytes: number;
}

type Preparation =
  | PreparedEvent
  | { readonly refused: WebhookError<'body_too_long' | 'queue_full'> };

type FindHooks = (event: string, action: string | undefined) => readonly Hook[];

/** Approximate size of an event that waits for the store, without its payload. */
const EVENT_ROW_SIZE_BYTES = 500;
const MAX_BATCH_COUNT = 200;
/** Time after which a batch yields to the event loop. */
const MAX_SLICE_MS = 10;
/** Limits of the events that wait for the store. Beyond them, `publish` fails with `queue_full`. */
const MAX_WAITING_COUNT = 10_000;
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

interface PublisherDeps {
  readonly queue: QueueStore;
  readonly hooks: HookRegistry;
  readonly engine: DeliveryEngine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: PublisherSettings;
}

/**
 * Accepts events. Events that arrive during a transaction are combined into the next one, so that
 * callers share one sync.
 * Each caller resolves when its event is durable. Source: webhooks, sections 7.2 and 8.1.
 */
export class Publisher {
  readonly #deps: PublisherDeps;
  readonly #writer = new BatchWriter<PreparedEvent, PublishOutcome>({
    maxCount: MAX_BATCH_COUNT,
    // Waits so that requests of the same event-loop tick can join.
    gather: () => new Promise<void>((resolve) => setImmediate(resolve)),
    write: (batch) => {
      for (const { sizeBytes } of batch) this.#waitingBytes -= sizeBytes;
      return this.#write(batch);
    },
  });
  #waitingBytes = 0;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  /** Resolves when the event is durable. */
  async publish(request: EventRequest): Promise<PublishOutcome> {
    const prepared = await this.#prepare(request, this.#findHooks);
    if ('refused' in prepared) return prepared;
    const isFull =
      this.#writer.waitingCount >= MAX_WAITING_COUNT ||
      this.#waitingBytes + prepared.sizeBytes > MAX_WAITING_BYTES;
    if (isFull) {
      this.#unreserve([prepared]);
      return { refused: webhookError('queue_full', 'engine') };
    }
    this.#waitingBytes += prepared.sizeBytes;
    return await this.#writer.add(prepared);
  }

  /** Returns the responses to earlier events by idempotency key; keys are valid for a day. */
  async published(keys: readonly string[]): Promise<ReadonlyMap<string, EventResponse>> {
    const found = await this.#deps.queue.intake.responses(keys, this.#deps.clock.nowMs());
    return new Map([...found].map(([key, text]) => [key, JSON.parse(text) as EventResponse])); // `#assignTargets` creates this JSON
  }

  /** Publishes all events in one transaction. */
  async publishBatch(requests: readonly EventRequest[]): Promise<readonly PublishOutcome[]> {
    const preparations: Preparation[] = [];
    const hooksOf = this.#cachedFindHooks();
    let sinceMs = this.#deps.clock.monotonicMs();
    for (const request of requests) {
      const prepared = this.#prepare(request, hooksOf);
      preparations.push(prepared instanceof Promise ? await prepared : prepared);
      if (this.#deps.clock.monotonicMs() - sinceMs < MAX_SLICE_MS) continue;
      await new Promise<void>((resolve) => setImmediate(resolve));
      sinceMs = this.#deps.clock.monotonicMs();
    }
    const accepted = preparations.filter((one): one is PreparedEvent => !('refused' in one));
    const outcomes = accepted.length === 0 ? [] : await this.#write(accepted);
    let next = 0;
    return preparations.map((one) => {
      if ('refused' in one) return one;
      return outcomes[next++] as PublishOutcome; // one for each accepted event
    });
  }

  async #write(batch: readonly PreparedEvent[]): Promise<readonly PublishOutcome[]> {
    return await this.#deps.engine.trackLeasing(async () => {
      let outcomes: readonly AcceptOutcome[];
      try {
        outcomes = await this.#deps.queue.intake.accept(
          batch.map(({ newEvent }) => newEvent),
          this.#deps.clock.nowMs(),
        );
      } catch (error) {
        this.#unreserve(batch);
        throw error;
      }
      return batch.map((prepared, index) => this.#outcomeOf(prepared, outcomes[index]));
    });
  }

  #outcomeOf(prepared: PreparedEvent, outcome: AcceptOutcome | undefined): PublishOutcome {
    if (outcome?.kind === 'accepted') {
      this.#deps.engine.enqueue(outcome.items);
      this.#deps.engine.metrics.accepted.inc();
      return { response: prepared.response };
    }
    this.#unreserve([prepared]);
    if (outcome?.kind === 'duplicate') {
      const original = JSON.parse(outcome.response) as EventResponse; // `#assignTargets` creates this JSON
      return { response: { ...original, duplicate: true } };
    }
    return { refused: webhookError('idempotency_conflict') };
  }

  #unreserve(batch: readonly PreparedEvent[]): void {
    for (const { newEvent } of batch) {
      for (const { appId, isLeased } of newEvent.targets) {
        if (isLeased) this.#deps.engine.unreserve(appId);
      }
    }
  }

  #prepare(request: EventRequest, hooksOf: FindHooks): Preparation | Promise<Preparation> {
    const payload = this.#deps.settings.enrichesPayload ? enrich(request) : request.payload.bytes;
    if (payload.length > this.#deps.settings.maxPayloadBytes)
      return { refused: webhookError('body_too_long') };
    const encoded = encodePayload(payload);
    // No other code may run between the capacity check and the reservation.
    return encoded instanceof Promise
      ? encoded.then((bytes) => this.#assignTargets(request, { payload, encoded: bytes, hooksOf }))
      : this.#assignTargets(request, { payload, encoded, hooksOf });
  }

  #assignTargets(
    request: EventRequest,
    prepared: {
      readonly payload: Uint8Array;
      readonly encoded: EncodedPayload;
      readonly hooksOf: FindHooks;
    },
  ): Preparation {
    const { payload, encoded, hooksOf } = prepared;
    const hooks = this.#targetsOf(request, hooksOf);
    if (hooks === 'full') return { refused: webhookError('queue_full', 'app') };
    const nowMs = this.#deps.clock.nowMs();
    const dueMs = Math.max(nowMs, request.deliverAtMs ?? nowMs);
    const targets = hooks.map((hook): NewTarget => {
      const isOrdered = hook.ordering === 'key' && request.orderingKey !== undefined;
      const isLeased = dueMs === nowMs && this.#deps.engine.reserve(hook, payload.length);
      return { appId: hook.appId, isOrdered, isLeased };
    });
    const event: StoredEvent = {
      guid: this.#deps.random.uuidV7(),
      event: request.event,
      action: request.action,
      installation_id: request.installation_id,
      repository_id: request.repository_id,
      payload: targets.some(({ isLeased }) => isLeased) ? inOwnMemory(payload) : payload,
      acceptedMs: nowMs,
    };
    const response: EventResponse = {
      guid: event.guid,
      accepted_at: new Date(nowMs).toISOString(),
      targets: hooks.map(({ appId, id }) => ({ app_id: appId, hook_id: id })),
      duplicate: false,
    };
    const idempotency = request.idempotencyKey && {
      key: request.idempotencyKey,
      bodyHash: hashOf(request),
      response: JSON.stringify(response),
    };
    return {
      newEvent: {
        event,
        encoded,
        dueMs,
        orderingKey: request.orderingKey,
        targets,
        idempotency: idempotency || undefined,
      },
      response,
      sizeBytes: encoded.bytes.length + EVENT_ROW_SIZE_BYTES,
    };
  }

  readonly #findHooks: FindHooks = (event, action) => this.#deps.hooks.matching(event, action);

  /** Caches the lookup for one batch, because most events of a batch share a few types. */
  #cachedFindHooks(): FindHooks {
    const hooksByEvent = new Map<string, readonly Hook[]>();
    return (event, action) => {
      const key = `${event} ${action ?? ''}`; // event names contain no space, and actions are not empty
      let hooks = hooksByEvent.get(key);
      if (hooks === undefined) {
        hooks = this.#deps.hooks.matching(event, action);
        hooksByEvent.set(key, hooks);
      }
      return hooks;
    };
  }

  #targetsOf(
    { event, action, appIds }: EventRequest,
    hooksOf: FindHooks,
  ): readonly Hook[] | 'full' {
    const subscribed = hooksOf(event, action).filter(
      ({ appId }) => appIds === undefined || appIds.includes(appId),
    );
    const withCapacity = subscribed.filter(({ appId }) => this.#deps.engine.hasCapacity(appId));
    if (withCapacity.length === subscribed.length) return subscribed;
    if (withCapacity.length === 0) return 'full';
    // A full queue must not block the other apps. The response lists the apps that receive the event.
    this.#deps.engine.metrics.leftOut.inc(subscribed.length - withCapacity.length);
    this.#deps.log.warn(
      { event, count: subscribed.length - withCapacity.length },
      'queue of an app is full',
    );
    return withCapacity;
  }
}

/**
 * Copies a small part of a shared buffer, so that a queued payload does not retain the buffer of
 * its batch.
 */
function inOwnMemory(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength * 2 > bytes.buffer.byteLength ? bytes : bytes.slice();
}

/** Adds missing `action` and `installation` members. Source: webhooks, section 6.1. */
function enrich({ payload, action, installation_id }: EventRequest): Uint8Array {
  const first =
    action === undefined || payload.action !== undefined
      ? ''
      : `"action":${JSON.stringify(action)}`;
  const last =
    installation_id === undefined || payload.hasInstallation
      ? ''
      : `"installation":{"id":${installation_id}}`;
  if (first === '' && last === '') return payload.bytes;
  // The payload is compact, so only members are between its braces.
  const inner = payload.bytes.subarray(1, -1);
  const comma = inner.length > 0 ? ',' : '';
  const head = first === '' ? '{' : `{${first}${inner.length > 0 || last !== '' ? ',' : ''}`;
  const tail = last === '' ? '}' : `${comma}${last}}`;
  return Buffer.concat([Buffer.from(head), inner, Buffer.from(tail)]);
}

/** Returns the hash of the parts that must match when an idempotency key is reused. */
function hashOf(request: EventRequest): string {
  const { payload, idempotencyKey: _, ...rest } = request;
  const hash = createHash('sha256').update(JSON.stringify(rest));
  return hash.update(payload.digest ?? payload.bytes).digest('base64');
}
