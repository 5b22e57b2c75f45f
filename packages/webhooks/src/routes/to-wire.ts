import { isoSeconds, type RequestError, requestError } from '@plinth/kernel';
import { type WebhookError, webhookError } from '../errors.js';
import type { DeliveryDetail, DeliverySummary } from '../model/delivery.js';

/** The only place with status codes; a new kind without a row does not compile. */
const STATUS: Record<WebhookFailure['kind'], number> = {
  json_unreadable: 400,
  cursor_invalid: 400,
  delivery_id_invalid: 400,
  api_version_unsupported: 400,
  user_agent_missing: 403,
  resource_missing: 404,
  idempotency_conflict: 409,
  body_too_long: 413,
  media_type_unacceptable: 415,
  shape_invalid: 422,
  queue_full: 429,
};

type WebhookFailure = WebhookError | RequestError<'json_unreadable'>;

/** Whether the error has a response in this service's format. */
export const isWebhookError = (error: unknown): error is WebhookFailure =>
  webhookError.is(error) || requestError.is(error, 'json_unreadable');

export const statusOf = (error: WebhookFailure): number => STATUS[error.kind];

/** Returns a list item with its members in the specified order. Source: webhooks, section 5.1. */
export function summaryToWire(delivery: DeliverySummary): Record<string, unknown> {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: isoSeconds(delivery.deliveredMs),
    redelivery: delivery.redelivery,
    duration: Math.round(delivery.durationMs / 10) / 100,
    status: delivery.status,
    status_code: delivery.status_code,
    event: delivery.event,
    action: delivery.action ?? null,
    installation_id: delivery.installation_id ?? null,
    repository_id: delivery.repository_id ?? null,
    throttled_at:
      delivery.throttledSinceMs === undefined ? null : isoSeconds(delivery.throttledSinceMs),
    url: '',
  };
}

/** Returns a list item for operators. */
export const operatorSummary = (delivery: DeliverySummary): object => ({
  ...summaryToWire(delivery),
  attempt: delivery.attemptNo ?? null,
});

/** Returns the members of a record that only operators see. */
export const operatorDetail = (delivery: DeliveryDetail): Readonly<Record<string, unknown>> => ({
  error: delivery.error ?? null,
  attempt: delivery.attemptNo ?? null,
  response_bytes: delivery.responseBody?.length ?? null,
  response_truncated: delivery.isResponseTruncated ?? null,
});

/**
 * Returns the JSON text of a record. The stored payload is compact JSON and is copied unparsed,
 * because parsing megabytes would block the event loop.
 * Source: webhooks, section 5.2.
 * @param more members to append.
 */
export function detailBytes(
  delivery: DeliveryDetail,
  more: Readonly<Record<string, unknown>> = {},
): Buffer {
  const { requestHeaders, requestPayload, responseHeaders, responseBody } = delivery;
  const start = { ...summaryToWire(delivery), url: delivery.url };
  const response = {
    headers: responseHeaders ?? null,
    payload: responseHeaders === undefined ? null : textOf(responseBody),
  };
  const head = `${openEnded(start)},"request":{"headers":${JSON.stringify(requestHeaders ?? null)},"payload":`;
  const tail = `},${JSON.stringify({ response, ...more }).slice(1)}`;
  return Buffer.concat([
    Buffer.from(head),
    requestPayload ?? Buffer.from('null'),
    Buffer.from(tail),
  ]);
}

/** Returns the JSON of an object without its closing brace, so that members can be appended. */
const openEnded = (object: object): string => JSON.stringify(object).slice(0, -1);

/** Invalid UTF-8 becomes U+FFFD. */
const textOf = (body: Uint8Array | undefined): string | null =>
  body === undefined ? null : Buffer.from(body).toString();
