import { createHash } from 'node:crypto';
import { namesTag } from '@plinth/kernel';
import { AccountsRefused } from '../../model/violation.js';
import type { RequestContext } from '../request-context.js';

const TAG_LENGTH = 22;

/** A strong entity tag of an object. */
export function entityTag(object: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(object)).digest('base64url');
  return `"${digest.slice(0, TAG_LENGTH)}"`;
}

/** Throws `precondition_failed` if the object is not in the version that the request was made for. */
export function refuseChanged({ ifMatch }: RequestContext, etag: string): void {
  if (ifMatch === undefined || namesTag(ifMatch, etag)) return;
  throw new AccountsRefused({
    code: 'precondition_failed',
    message:
      'The object was changed after the version in If-Match was read; read it again, then repeat the change.',
  });
}
