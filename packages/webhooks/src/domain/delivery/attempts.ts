import {
  type Clock,
  type EgressSender,
  isSuccess,
  type Logger,
  maskUrl,
  maskUrlAndQuery,
  type Outcome,
  type OutgoingRequest,
  type Random,
  type Tracer,
} from '@plinth/kernel';
import type { AttemptRecord } from '../../model/delivery.js';
import type { QueueItem } from '../../model/event.js';
import type { Hook, RetryPolicy } from '../../model/hook.js';
import type { EncryptedUrls } from '../../storage/encrypted-urls.js';
import type { FinishedAttempt } from '../../storage/queue/queue-model.js';
import type { QueueStore } from '../../storage/queue/queue-store.js';
import {
  makeDeliveryRequest,
  type RequestSettings,
  recordedHeaders,
  signingJob,
} from '../delivery-request.js';
import type { HookRegistry } from '../hook-registry.js';
import type { PayloadProcessor } from '../payload/payload-processor.js';
import { statusOf } from '../recorded-status.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import { keepsDead, parseRetryAfterMs, retryDelayMs } from './retry.js';

export interface AttemptSettings {
  readonly retry: RetryPolicy;
  /** True if a 410 response disables the webhook. */
  readonly disablesOnGone: boolean;
  readonly disableAfterMs: number | undefined;
  readonly request: RequestSettings;
}

export interface AttemptDeps {
  readonly settings: AttemptSettings;
  readonly queue: QueueStore;
  readonly hooks: HookRegistry;
  readonly sender: EgressSender;
  readonly urls: EncryptedUrls;
  readonly payloads: PayloadProcessor;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly tracer: Tracer | undefined;
  readonly disable: (hook: Hook, why: string) => Promise<void>;
}

/**
 * Makes single attempts: sends the request, records the result and applies its consequences.
 * Source: webhooks, section 7.3.
 */
export class Attempts {
  readonly #deps: AttemptDeps;

  constructor(deps: AttemptDeps) {
    this.#deps = deps;
  }

  /**
   * Sends the request and returns the next state of the item. Rejects when the request cannot be
   * built, which does not count as a failure of the receiver.
   * @param options.throttledSinceMs time since which limits of this server have delayed the item.
   * @returns `undefined` when the attempt was aborted; the request may have reached the receiver.
   */
  async run(
    item: QueueItem,
    hook: Hook,
    options: {
      readonly throttledSinceMs: number | undefined;
      /** Checked immediately before the request is sent. */
      readonly maySend: () => boolean;
      /** Aborts the attempt. */
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<{ readonly attempt: FinishedAttempt; readonly isFailure: boolean } | undefined> {
    const { throttledSinceMs, maySend, signal } = options;
    const { clock, queue, sender, log, payloads } = this.#deps;
    const payload = item.payload ?? (await queue.readPayload(item.guid));
    if (payload === undefined)
      throw new Error('the payload of a queued event is missing from the store');
    const nowMs = clock.nowMs();
    const { guid, event } = item;
    const settings = this.#deps.settings.request;
    const signed = await payloads.sign(signingJob({ hook, settings, guid, payload, nowMs }));
    const request = makeDeliveryRequest({ hook, settings, guid, event, payload, signed });
    const startMs = clock.monotonicMs();
    const insecure = hook.insecure_ssl;
    const outcome = await sender.send(request, { insecure, maySend, ...(signal && { signal }) });
    // If the deadline passed before `sender` was allowed to send, nothing was sent: this was not an attempt.
    if (outcome.kind === 'timed_out' && !maySend()) return undefined;
    const durationMs = clock.monotonicMs() - startMs;
    const record = toRecord({
      outcome,
      request,
      hook,
      url: this.#deps.urls.encrypt(maskUrl(hook.url), hook.appId),
      deliveredMs: nowMs,
      durationMs,
      throttledSinceMs,
    });
    this.#deps.metrics.attempts.observe(outcome, durationMs);
    const isFailure = !isSuccess(outcome);
    this.#trace(item, record, { host: request.url.hostname, isFailure });
    if (isFailure) {
      log.info(
        {
          guid: item.guid,
          app: item.appId,
          url: maskUrlAndQuery(hook.url),
          outcome: outcome.kind,
          status: record.status_code,
          error: record.error,
          durationMs: Math.round(durationMs),
        },
        'attempt failed',
      );
    }
    return { attempt: { item, record, next: this.#nextState(item, hook, outcome) }, isFailure };
  }

  /** Adds a span for the attempt. All attempts of one event share a trace. */
  #trace(
    item: QueueItem,
    record: AttemptRecord,
    { host, isFailure }: { readonly host: string; readonly isFailure: boolean },
  ): void {
    this.#deps.tracer?.record({
      traceId: item.guid.replaceAll('-', ''),
      name: 'webhook attempt',
      startMs: record.deliveredMs,
      durationMs: record.durationMs,
      isFailure,
      attributes: {
        'plinth.app_id': item.appId,
        'plinth.event': item.event,
        'plinth.guid': item.guid,
        'plinth.attempt': item.attemptNo,
        'plinth.outcome': record.status,
        'http.request.method': 'POST',
        'http.response.status_code': record.status_code,
        'server.address': host,
      },
    });
  }

  #nextState(item: QueueItem, hook: Hook, outcome: Outcome): FinishedAttempt['next'] {
    if (isSuccess(outcome)) {
      if (hook.failingSinceMs !== undefined) this.#storeFailingSince(hook, undefined);
      return { kind: 'done' };
    }
    const { clock, random } = this.#deps;
    const policy = hook.retry ?? this.#deps.settings.retry;
    const isGone = outcome.kind === 'answered' && outcome.statusCode === 410;
    if (isGone && this.#deps.settings.disablesOnGone) {
      this.#disable(hook, 'the receiver returned 410');
      return { kind: 'done' };
    }
    this.#noteFailure(hook);
    const retryAfter =
      outcome.kind === 'answered' && (outcome.statusCode === 429 || outcome.statusCode === 503);
    const delayMs = retryDelayMs({
      policy,
      attemptNo: item.attemptNo,
      retryAfterMs: retryAfter
        ? parseRetryAfterMs(outcome.headers['Retry-After'], clock.nowMs())
        : undefined,
      chance: random.float(),
    });
    if (delayMs !== undefined) {
      return { kind: 'retry', dueMs: Math.round(clock.nowMs() + delayMs) };
    }
    return { kind: keepsDead(policy) ? 'dead' : 'done' };
  }

  #noteFailure(hook: Hook): void {
    const { disableAfterMs } = this.#deps.settings;
    if (disableAfterMs === undefined) return;
    const nowMs = this.#deps.clock.nowMs();
    if (hook.failingSinceMs === undefined) this.#storeFailingSince(hook, nowMs);
    else if (nowMs - hook.failingSinceMs >= disableAfterMs) {
      this.#disable(hook, 'all attempts failed for too long');
    }
  }

  #storeFailingSince(hook: Hook, sinceMs: number | undefined): void {
    this.#deps.hooks
      .storeFailingSince(hook.appId, sinceMs)
      .catch((err: unknown) =>
        this.#deps.log.error({ err }, 'cannot record the failure of a webhook'),
      );
  }

  #disable(hook: Hook, why: string): void {
    if (this.#deps.hooks.get(hook.appId)?.active !== true) return;
    this.#deps.metrics.disabled.inc();
    this.#deps.log.warn({ app: hook.appId, why }, 'webhook disabled');
    this.#deps
      .disable(hook, why)
      .catch((err: unknown) => this.#deps.log.error({ err }, 'cannot disable the webhook'));
  }
}

function toRecord(options: {
  readonly outcome: Outcome;
  readonly request: OutgoingRequest;
  readonly hook: Hook;
  /** The URL, encrypted. */
  readonly url: string;
  readonly deliveredMs: number;
  readonly durationMs: number;
  readonly throttledSinceMs: number | undefined;
}): AttemptRecord {
  const { outcome, request, hook, url, deliveredMs, durationMs, throttledSinceMs } = options;
  const answered = outcome.kind === 'answered' ? outcome : undefined;
  const { status, status_code } = statusOf(outcome);
  return {
    status,
    status_code,
    deliveredMs,
    durationMs,
    throttledSinceMs,
    url,
    requestHeaders: recordedHeaders(request.headers, hook.custom_headers),
    responseHeaders: answered?.headers,
    responseBody: answered?.body,
    isResponseTruncated: answered?.isTruncated,
    error: 'error' in outcome ? outcome.error : undefined,
  };
}
