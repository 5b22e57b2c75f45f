import { CredentialUncheckable, type Principal } from '@plinth/kernel';
import type { Exchange } from './exchange.js';

/** The result of authentication. */
export type Caller =
  | { readonly principal: Principal; readonly authOutcome: 'authenticated' }
  | { readonly principal: undefined; readonly authOutcome: 'preflight' }
  | {
      readonly principal: undefined;
      readonly authOutcome: 'refusal' | 'uncheckable';
      readonly error: unknown;
    };

/** Authenticates through the dialect; preflights are anonymous. */
export function identify({ dialect, request, match }: Exchange): Caller | Promise<Caller> {
  if (request.method === 'OPTIONS' && dialect.preflightResponse !== undefined) {
    return { principal: undefined, authOutcome: 'preflight' };
  }
  const known = (principal: Principal): Caller => ({ principal, authOutcome: 'authenticated' });
  // A credential that cannot be checked may be valid, so it does not count as a failed login.
  const refused = (error: unknown): Caller => ({
    principal: undefined,
    authOutcome: error instanceof CredentialUncheckable ? 'uncheckable' : 'refusal',
    error,
  });
  try {
    const principal = dialect.identify(request, match?.registered.route.access);
    return principal instanceof Promise ? principal.then(known, refused) : known(principal);
  } catch (error) {
    return refused(error);
  }
}
