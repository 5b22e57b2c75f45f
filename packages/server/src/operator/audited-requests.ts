import {
  type HttpRequest,
  isDomainError,
  isJsonType,
  isObject,
  type Principal,
  parseJson,
  queryOf,
  type Route,
} from '@plinth/kernel';
import type { AuditLog } from './audit-log.js';

/** Query and body members that name the object of a change; `description` is the name of a 2.x token. All others may be secrets. */
const NAMES: ReadonlySet<string> = new Set([
  ...['db', 'database', 'bucket', 'table', 'name', 'token_name', 'trigger_name', 'plugin_name'],
  ...['rollup_name', 'description'],
  ...['id', 'kind', 'identity', 'slug', 'login', 'client_id'],
]);
const MAX_BODY_BYTES = 65_536;
/** Requests to plugins are their users' traffic. */
const TO_PLUGINS = '/api/v3/engine/';

/** Wraps an operator route so that changes are recorded in the audit log. Other routes are returned unchanged. */
export function audited(route: Route, log: AuditLog): Route {
  const { method, path, access } = route;
  const isOperators = access === 'admin' || access === 'first_token' || access === 'backup';
  if (method === 'GET' || !isOperators || path.startsWith(TO_PLUGINS)) return route;
  return {
    ...route,
    async handle(request, input) {
      // Read first: the handler may release the memory of the body.
      const entry = {
        who: whoOf(request.principal),
        address: request.client.address,
        action: `${method} ${path}`,
        target: targetOf(request),
      };
      try {
        const response = await route.handle(request, input);
        log.note({ ...entry, result: String(response.status) });
        return response;
      } catch (error) {
        log.note({ ...entry, result: isDomainError(error) ? error.kind : 'failed' });
        throw error;
      }
    },
  };
}

/** Returns the name of the token or user; `undefined` if the server requires no authentication. */
export function whoOf(principal: Principal): string | undefined {
  if (principal.kind === 'admin') return principal.tokenName;
  return principal.kind === 'grantee' ? principal.name : undefined;
}

/** Returns the audit target of a request: the names in its path, query and body. */
function targetOf({ url, parameters, headers, body }: HttpRequest): string {
  const query = Object.fromEntries(new URLSearchParams(queryOf(url)));
  const isJson = isJsonType(headers['content-type']);
  const fields = isJson && body.byteLength <= MAX_BODY_BYTES ? jsonOf(body) : {};
  const named = Object.entries({ ...query, ...fields }).filter(
    ([name, value]) => NAMES.has(name) && (typeof value === 'string' || typeof value === 'number'),
  );
  return [...Object.entries(parameters), ...named]
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function jsonOf(body: Uint8Array): object {
  try {
    const value = parseJson(body);
    return isObject(value) ? value : {};
  } catch {
    return {}; // The route reports the error.
  }
}
