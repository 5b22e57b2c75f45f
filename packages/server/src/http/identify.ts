import { CredentialUncheckable, type Principal } from '@plinth/kernel';
import type { Exchange } from './exchange.js';

/** The result of authentication: a principal, or the reason why there is none. */
export type AuthResult =
  | { readonly principal: Principal; readonly authOutcome: 'authenticated' }
  | { readonly principal: undefined; readonly authOutcome: 'preflight' }
  | {
      readonly principal: undefined;
      readonly authOutcome: 'refusal' | 'uncheckable';
      readonly error: unknown;
    };

/** Authenticates through the API conventions; preflights are anonymous. */
export function identify({
  conventions,
  request,
  match,
}: Exchange): AuthResult | Promise<AuthResult> {
  if (request.method === 'OPTIONS' && conventions.preflightResponse !== undefined) {
    return { principal: undefined, authOutcome: 'preflight' };
  }
  const known = (principal: Principal): AuthResult => ({ principal, authOutcome: 'authenticated' });
  // A credential that cannot be checked may be valid, so it does not count as a failed login.
  const refused = (error: unknown): AuthResult => ({
    principal: undefined,
    authOutcome: error instanceof CredentialUncheckable ? 'uncheckable' : 'refusal',
    error,
  });
  try {
    const principal = conventions.identify(request, match?.registered.route.access);
    return principal instanceof Promise ? principal.then(known, refused) : known(principal);
  } catch (error) {
    return refused(error);
  }
}
