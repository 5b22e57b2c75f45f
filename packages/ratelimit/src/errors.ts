import type {
  CredentialMalformed,
  CredentialUncheckable,
  NotAllowed,
  NotAuthenticated,
} from '@plinth/kernel';

/** Closed list of the expected failures of this service. */

/** The limiter is switched off. */
export class LimiterDisabled extends Error {
  override readonly name = 'LimiterDisabled';
  readonly kind = 'limiter_disabled';
  constructor() {
    super('Rate limiting is not enabled.');
  }
}

/** The counters cannot be reached, and the operator prefers no service to one without limits. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly kind = 'store_unavailable';
  constructor(cause?: unknown) {
    super('Service unavailable', { cause });
  }
}

export class IdentityKeyInvalid extends Error {
  override readonly name = 'IdentityKeyInvalid';
  readonly kind = 'identity_key_invalid';
  constructor() {
    super('not an identity; expected a key like user:1, installation:1, repo:1 or ip:192.0.2.1');
  }
}

/** A question that cannot be answered as it is put. */
export class QuestionInvalid extends Error {
  override readonly name = 'QuestionInvalid';
  readonly kind = 'question_invalid';
}

export class LeaseUnknown extends Error {
  override readonly name = 'LeaseUnknown';
  readonly kind = 'lease_unknown';
  constructor() {
    super('no such lease, or it has ended');
  }
}

export class BanUnknown extends Error {
  override readonly name = 'BanUnknown';
  readonly kind = 'ban_unknown';
  constructor() {
    super('this identity is not banned');
  }
}

/** What a request can end in. */
export type RateLimitError =
  | LimiterDisabled
  | StoreUnavailable
  | IdentityKeyInvalid
  | QuestionInvalid
  | LeaseUnknown
  | BanUnknown
  | NotAuthenticated
  | CredentialUncheckable
  | NotAllowed
  | CredentialMalformed;
