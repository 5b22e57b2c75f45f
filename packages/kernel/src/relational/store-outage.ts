import { causesOf } from '../errors/causes-of.js';
import { asDiskFull, type DiskFull } from '../fs/disk-full.js';
import { CredentialUncheckable } from '../http/credential-uncheckable.js';
import { ServerBusy } from '../http/server-busy.js';

const RETRY_AFTER_SEC = 1;

/** How a store fails that could not be asked, whatever it was asked. */
const KINDS: ReadonlySet<unknown> = new Set([
  'store_away',
  'store_overloaded',
  'store_unusable',
  'transaction_timed_out',
]);

/** The relational store can do nothing for anybody at the moment. A change may have been stored or not. */
export class StoreOutage extends Error {
  override readonly name = 'StoreOutage';
  readonly kind = 'store_outage';
  readonly retryAfterSec = RETRY_AFTER_SEC;
  constructor(cause: unknown) {
    super('the store of the server cannot be reached at the moment; try again', { cause });
  }
}

/** What passes without anybody changing the request: asked again later, it may be answered. */
export type Outage = CredentialUncheckable | DiskFull | ServerBusy | StoreOutage;

/** `error` as what passes by itself, when that is what it comes from. The one rule by which services answer 503 for what is below them. */
export function asOutage(error: unknown): Outage | undefined {
  if (error instanceof CredentialUncheckable || error instanceof ServerBusy) return error;
  if (error instanceof StoreOutage) return error;
  const full = asDiskFull(error);
  if (full !== undefined) return full;
  const isAway = causesOf(error).some((cause) => KINDS.has(Reflect.get(cause, 'kind')));
  return isAway ? new StoreOutage(error) : undefined;
}
