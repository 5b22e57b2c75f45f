import { requestError } from '@plinth/kernel';

/**
 * The token text a request presents, or `undefined`. Throws `credential_malformed`.
 * @param target path and query as in the request line.
 * Source: tsdb-http, "Authentication and authorisation".
 */
export function readCredential(
  target: string,
  authorization: string | undefined,
): string | undefined {
  const queryStart = target.indexOf('?');
  if (queryStart !== -1 && TAKES_PASSWORD.has(target.slice(0, queryStart))) {
    const password = new URLSearchParams(target.slice(queryStart + 1)).get('p');
    if (password !== null) return password;
  }
  return authorization === undefined ? undefined : readAuthorization(authorization);
}

/** Paths where clients of version 1 give the token as the parameter `p`. */
const TAKES_PASSWORD: ReadonlySet<string> = new Set(['/query', '/write']);

function readAuthorization(header: string): string {
  const [scheme, credential, ...others] = header.split(' ');
  if (credential === undefined || credential === '' || others.length > 0) {
    throw requestError('credential_malformed');
  }
  switch (scheme) {
    case 'Bearer':
      return credential;
    case 'Token':
      // Clients of version 2 present `user:password` here to a 1.x server; no token holds a colon.
      return credential.slice(credential.lastIndexOf(':') + 1);
    case 'Basic':
      return readBasic(credential);
    default:
      throw requestError('credential_malformed');
  }
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function readBasic(credential: string): string {
  if (!BASE64.test(credential)) throw requestError('credential_malformed');
  const userAndToken = Buffer.from(credential, 'base64').toString();
  const colon = userAndToken.lastIndexOf(':');
  if (colon === -1) throw requestError('credential_malformed');
  return userAndToken.slice(colon + 1);
}
