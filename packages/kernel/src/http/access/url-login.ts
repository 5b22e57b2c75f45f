import { pathOf, queryOf } from '../http-request.js';

/** Paths where InfluxDB 1.x clients send a user and a password, or a token as the password, in `u` and `p`. */
const TAKES_LOGIN: ReadonlySet<string> = new Set([
  '/query',
  '/write',
  '/api/v1/prom/read',
  '/api/v1/prom/write',
]);

/** Returns the credentials in a target; `undefined` if it contains none. */
export function loginOfUrl(
  url: string,
): { readonly user: string; readonly password: string } | undefined {
  if (!url.includes('?') || !TAKES_LOGIN.has(pathOf(url))) return undefined;
  const parameters = new URLSearchParams(queryOf(url));
  const password = parameters.get('p');
  return password === null ? undefined : { user: parameters.get('u') ?? '', password };
}
