import { causesOf } from '../errors/causes-of.js';
import { asDiskFull, type DiskFull } from '../fs/disk-full.js';
import { CredentialUncheckable } from '../http/credential-uncheckable.js';
import { ServerBusy } from '../http/server-busy.js';

const RETRY_AFTER_SEC = 1;

/** Error kinds of a store that is unavailable for any statement. */
const KINDS: ReadonlySet<unknown> = new Set([
  'store_away',
  'store_overloaded',
  'store_unusable',
  'transaction_timed_out',
]);

/** The relational store or the object store is unavailable. A change may or may not have been stored. */
export class StoreOutage extends Error {
  override readonly name = 'StoreOutage';
  readonly kind = 'store_outage';
  readonly retryAfterSec = RETRY_AFTER_SEC;
  constructor(cause: unknown, message = 'the database of the server is unavailable; try again') {
    super(message, { cause });
  }
}

/** Temporary failures: the same request may succeed later. */
export type Outage = CredentialUncheckable | DiskFull | ServerBusy | StoreOutage;

/** Returns the temporary failure behind `error`, if any. Services use it to decide on 503. */
export function asOutage(error: unknown): Outage | undefined {
  if (error instanceof CredentialUncheckable || error instanceof ServerBusy) return error;
  if (error instanceof StoreOutage) return error;
  const full = asDiskFull(error);
  if (full !== undefined) return full;
  const isAway = causesOf(error).some((cause) => KINDS.has(Reflect.get(cause, 'kind')));
  return isAway ? new StoreOutage(error) : undefined;
}
