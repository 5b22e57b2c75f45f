import { namesTag } from '@plinth/kernel';
import type { StoredPerson } from '../../model/account/person.js';
import { canonicalJson } from '../../model/merge-fields.js';
import { AccountsRefused } from '../../model/violation.js';
import type { Aggregate } from '../../storage/account-store.js';
import type { Encryptor } from '../../storage/encryptor.js';
import type { RequestContext } from '../request-context.js';

const TAG_LENGTH = 32;

/**
 * Returns a strong entity tag of the data that operators edit, including values that are never
 * returned, such as id numbers. It is keyed, because a plain hash would reveal short numbers.
 * Statuses and requirements are excluded: time, persons and verifications also change them.
 */
export function accountTag(
  { account, persons }: Aggregate,
  encryptor: Pick<Encryptor, 'digest'>,
): string {
  // `fields` contains the requested capabilities; `capabilities` contains their statuses.
  const { id, fields, applied, isClosed, individualId } = account;
  const isIndividual = fields.identity?.entity_type === 'individual';
  const individual = isIndividual ? persons.find((each) => each.id === individualId) : undefined;
  const edited = { tagged: id, fields, applied, isClosed, individual: individual?.fields };
  return `"${encryptor.digest(canonicalJson(edited)).slice(0, TAG_LENGTH)}"`;
}

/**
 * Returns a strong entity tag of a person. Every change increases the timestamp of the last change.
 */
export const personTag = ({ updatedMs }: StoredPerson): string => `"${updatedMs}"`;

/**
 * Throws `precondition_failed` if the object's version differs from the one that the request expects. Weak
 * tags also match, because proxies that compress responses make tags weak.
 */
export function refuseChanged({ ifMatch }: RequestContext, etag: string): void {
  if (ifMatch === undefined || namesTag(ifMatch, etag)) return;
  throw new AccountsRefused({
    code: 'precondition_failed',
    message:
      'The object was changed after the version in If-Match was read; read it again, then repeat the change.',
  });
}
