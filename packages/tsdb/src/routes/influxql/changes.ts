import { type HttpRequest, isDomainError } from '@plinth/kernel';
import type { InfluxqlRequest } from '../../domain/influxql/influxql.js';
import type { AuditTrail } from '../../domain/system-tables/tables/audit.js';

/** A page makes a browser send a GET, for a picture, without saying whose page it is; which program it is the page cannot hide. */
export const mayBeOfAnyPage = ({ method, headers }: HttpRequest): boolean =>
  method !== 'POST' && headers['user-agent']?.startsWith('Mozilla/') === true;

/** Notes what statements of a request change, as what its sender did. */
export function changeNote(
  { principal, client, method }: HttpRequest,
  audit: AuditTrail | undefined,
): InfluxqlRequest['onChange'] {
  return (statement, error) => {
    const failure = isDomainError(error) ? error.kind : 'failed';
    audit?.note(principal, {
      address: client.address,
      action: `${method} /query`,
      target: statement,
      result: error === undefined ? 'ok' : failure,
    });
  };
}
