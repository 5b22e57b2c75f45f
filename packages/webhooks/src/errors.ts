import { type ErrorOf, errorCatalogue } from '@plinth/kernel';

/** Closed catalog of this service's expected failures. Source: webhooks, section 2.2. */
const TEXTS = {
  /** A body member has the wrong JSON type. */
  shape_invalid: (complaints: readonly string[]) => `Invalid request.\n\n${complaints.join('\n')}`,
  /** The app, delivery or path does not exist. */
  resource_missing: 'Not Found',
  cursor_invalid: 'Invalid cursor',
  delivery_id_invalid: 'Invalid delivery id',
  media_type_unacceptable: (accept: string) =>
    `Unsupported 'Accept' header: '${accept}'. Must accept 'application/json'.`,
  api_version_unsupported: (version: string) => `"${version}" is not a supported version.`,
  user_agent_missing:
    'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.',
  body_too_long: 'Request body too large',
  /** The idempotency key was used with a different event. */
  idempotency_conflict: 'This idempotency key was used with another event',
  /** The queue of the target app, or the server's queue, is full. */
  queue_full: (whose: 'app' | 'engine') =>
    whose === 'app'
      ? 'Too many events are queued for this app'
      : 'Too many events are queued on this server',
} as const;

export const webhookError = errorCatalogue('WebhookError', TEXTS);

export type WebhookError<Kind extends keyof typeof TEXTS = keyof typeof TEXTS> = ErrorOf<
  typeof TEXTS,
  Kind
>;
