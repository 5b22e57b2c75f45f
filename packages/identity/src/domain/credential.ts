import { loginOfUrl, readExactAuthorization, requestError } from '@plinth/kernel';
import type { Login } from './password-checks.js';

/** The credential of a request, in each form that its text can take. */
export interface Presented {
  readonly token: string;
  /** User and password, if the text contains a colon. */
  readonly login?: Login;
}

/**
 * Reads the credential of a request; `undefined` if there is none. Throws `credential_malformed`.
 * @param target path and query as in the request line.
 * Source: tsdb-http, "Authentication and authorization".
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
      // Version 2 clients send `user:password` in this form to a 1.x server.
      return credential.includes(':') ? splitLogin(credential) : { token: credential };
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
  return splitLogin(userAndPassword);
}

/** Splits at the first colon. Tokens and user names contain no colon, but passwords may. */
function splitLogin(userAndPassword: string): Presented {
  const colon = userAndPassword.indexOf(':');
  const user = userAndPassword.slice(0, colon);
  const password = userAndPassword.slice(colon + 1);
  const token = userAndPassword.slice(userAndPassword.lastIndexOf(':') + 1);
  return { token, login: { user, password } };
}
