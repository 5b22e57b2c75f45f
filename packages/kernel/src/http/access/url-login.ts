import { pathOf, queryOf } from '../http-request.js';

/** Paths where clients of version 1 give user and password, or a token in place of the password, as parameters `u` and `p`. */
const TAKES_LOGIN: ReadonlySet<string> = new Set(['/query', '/write']);

/** What a target says of who asks; `undefined`: nothing. */
export function loginOfUrl(
  url: string,
): { readonly user: string; readonly password: string } | undefined {
  if (!url.includes('?') || !TAKES_LOGIN.has(pathOf(url))) return undefined;
  const parameters = new URLSearchParams(queryOf(url));
  const password = parameters.get('p');
  return password === null ? undefined : { user: parameters.get('u') ?? '', password };
}
