import { type HttpRequest, isDomainError } from '@plinth/kernel';
import type { InfluxqlRequest } from '@plinth/tsdb-influxql/influxql.js';
import type { AuditTrail } from '../../domain/system-tables/tables/audit.js';

/**
 * Returns whether any web page could have caused the request: pages can make a browser send a GET, for example for an
 * image, but cannot hide the browser's User-Agent.
 */
export const mayBeOfAnyPage = ({ method, headers }: HttpRequest): boolean =>
  method !== 'POST' && headers['user-agent']?.startsWith('Mozilla/') === true;

/**
 * Records changing statements in the audit log, with the database and retention policy of the
 * request.
 */
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
