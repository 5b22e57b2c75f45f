import { loginOfUrl, readExactAuthorization, requestError } from '@plinth/kernel';
import type { Login } from './password-checks.js';

/** What a request presents: each form of it that can be a credential. */
export interface Presented {
  /** Text of a token. */
  readonly token: string;
  /** User and password, where it has the form of these. */
  readonly login?: Login;
}

/**
 * What a request presents, or `undefined`. Throws `credential_malformed`.
 * @param target path and query as in the request line.
 * Source: tsdb-http, "Authentication and authorisation".
 */
export function readCredential(
  target: string,
  authorization: string | undefined,
): Presented | undefined {
  const login = loginOfUrl(target);
  if (login !== undefined) return { token: login.password, login };
  return authorization === undefined ? undefined : readAuthorization(authorization);
}

function readAuthorization(header: string): Presented {
  const { scheme, credential = '' } = readExactAuthorization(header) ?? {};
  switch (scheme) {
    case 'bearer':
      return { token: credential };
    case 'token':
      // Clients of version 2 present `user:password` here to a 1.x server.
      return credential.includes(':') ? parted(credential) : { token: credential };
    case 'basic':
      return readBasic(credential);
    default:
      throw requestError('credential_malformed');
  }
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function readBasic(credential: string): Presented {
  if (!BASE64.test(credential)) throw requestError('credential_malformed');
  const userAndPassword = Buffer.from(credential, 'base64').toString();
  if (!userAndPassword.includes(':')) throw requestError('credential_malformed');
  return parted(userAndPassword);
}

/** No token holds a colon, and no user; a password may. */
function parted(userAndPassword: string): Presented {
  const colon = userAndPassword.indexOf(':');
  const user = userAndPassword.slice(0, colon);
  const password = userAndPassword.slice(colon + 1);
  const token = userAndPassword.slice(userAndPassword.lastIndexOf(':') + 1);
  return { token, login: { user, password } };
}
