import type { AppJwtRefused, JsonUnreadable, ValidationFailed } from '@plinth/kernel';

/** Closed list of the expected failures of this service. Source: webhooks, section 2.2. */

/** A member of the body has another JSON type than it may have. */
export class ShapeInvalid extends Error {
  override readonly name = 'ShapeInvalid';
  readonly kind = 'shape_invalid';
  constructor(complaints: readonly string[]) {
    super(`Invalid request.\n\n${complaints.join('\n')}`);
  }
}

/** There is no such app, delivery or path. */
export class ResourceMissing extends Error {
  override readonly name = 'ResourceMissing';
  readonly kind = 'resource_missing';
  constructor() {
    super('Not Found');
  }
}

export class CursorInvalid extends Error {
  override readonly name = 'CursorInvalid';
  readonly kind = 'cursor_invalid';
  constructor() {
    super('Invalid cursor');
  }
}

export class DeliveryIdInvalid extends Error {
  override readonly name = 'DeliveryIdInvalid';
  readonly kind = 'delivery_id_invalid';
  constructor() {
    super('Invalid delivery id');
  }
}

export class MediaTypeUnacceptable extends Error {
  override readonly name = 'MediaTypeUnacceptable';
  readonly kind = 'media_type_unacceptable';
  constructor(accept: string) {
    super(`Unsupported 'Accept' header: '${accept}'. Must accept 'application/json'.`);
  }
}

export class ApiVersionUnsupported extends Error {
  override readonly name = 'ApiVersionUnsupported';
  readonly kind = 'api_version_unsupported';
  constructor(version: string) {
    super(`"${version}" is not a supported version.`);
  }
}

export class UserAgentMissing extends Error {
  override readonly name = 'UserAgentMissing';
  readonly kind = 'user_agent_missing';
  constructor() {
    super(
      'Request forbidden by administrative rules. Please make sure your request has a User-Agent header.',
    );
  }
}

export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong';
  readonly kind = 'body_too_long';
  constructor() {
    super('Request body too large');
  }
}

/** The same idempotency key came with another event. */
export class IdempotencyConflict extends Error {
  override readonly name = 'IdempotencyConflict';
  readonly kind = 'idempotency_conflict';
  constructor() {
    super('This idempotency key was used with another event');
  }
}

/** So much waits for the app that the event is aimed at, or for the engine itself, that no more is taken. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
  readonly kind = 'queue_full';
  constructor(whose: 'app' | 'engine') {
    super(whose === 'app' ? 'Too many events are queued for this app' : 'Too many events wait');
  }
}

/** What a request can end in. */
export type WebhookError =
  | AppJwtRefused
  | JsonUnreadable
  | ValidationFailed
  | ShapeInvalid
  | ResourceMissing
  | CursorInvalid
  | DeliveryIdInvalid
  | MediaTypeUnacceptable
  | ApiVersionUnsupported
  | UserAgentMissing
  | BodyTooLong
  | IdempotencyConflict
  | QueueFull;
