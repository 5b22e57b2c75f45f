import { type HttpRequest, isDomainError } from '@plinth/kernel';
import type { InfluxqlRequest } from '../../domain/influxql/influxql.js';
import type { AuditTrail } from '../../domain/system-tables/tables/audit.js';

/** A page makes a browser send a GET, for a picture, without saying whose page it is; which program it is the page cannot hide. */
export const mayBeOfAnyPage = ({ method, headers }: HttpRequest): boolean =>
  method !== 'POST' && headers['user-agent']?.startsWith('Mozilla/') === true;

/** Records statements that change something in the audit log, with the database and retention policy of the request. */
export function changeNote(
  { principal, client, method }: HttpRequest,
  { database, policy }: Pick<InfluxqlRequest, 'database' | 'policy'>,
  audit: AuditTrail | undefined,
): InfluxqlRequest['onChange'] {
  const named = Object.entries({ db: database, rp: policy }).filter(([, value]) => value);
  const at = named.map(([name, value]) => `${name}=${JSON.stringify(value)} `).join('');
  return (statement, error) => {
    const failure = isDomainError(error) ? error.kind : 'failed';
    audit?.note(principal, {
      address: client.address,
      action: `${method} /query`,
      target: at + statement,
      result: error === undefined ? 'ok' : failure,
    });
  };
}
