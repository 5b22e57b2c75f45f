import { type ErrorOf, errorCatalogue } from '@plinth/kernel';

/** Closed catalogue of the expected failures of this service. Source: webhooks, section 2.2. */
const TEXTS = {
  /** A member of the body has another JSON type than it may have. */
  shape_invalid: (complaints: readonly string[]) => `Invalid request.\n\n${complaints.join('\n')}`,
  /** There is no such app, delivery or path. */
  resource_missing: 'Not Found',
  cursor_invalid: 'Invalid cursor',
  delivery_id_invalid: 'Invalid delivery id',
  media_type_unacceptable: (accept: string) =>
    `Unsupported 'Accept' header: '${accept}'. Must accept 'application/json'.`,
  api_version_unsupported: (version: string) => `"${version}" is not a supported version.`,
  user_agent_missing:
    'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.',
  body_too_long: 'Request body too large',
  /** The same idempotency key came with another event. */
  idempotency_conflict: 'This idempotency key was used with another event',
  /** So much waits for the app that the event is aimed at, or for the engine itself, that no more is taken. */
  queue_full: (whose: 'app' | 'engine') =>
    whose === 'app' ? 'Too many events are queued for this app' : 'Too many events wait',
} as const;

export const webhookError = errorCatalogue('WebhookError', TEXTS);

export type WebhookError<Kind extends keyof typeof TEXTS = keyof typeof TEXTS> = ErrorOf<
  typeof TEXTS,
  Kind
>;
