import { CredentialUncheckable, type Principal } from '@plinth/kernel';
import type { Exchange } from './exchange.js';

/** Who asks, as far as that is known. */
export type Caller =
  | { readonly principal: Principal; readonly purpose: 'request' }
  | { readonly principal: undefined; readonly purpose: 'preflight' }
  | {
      readonly principal: undefined;
      readonly purpose: 'refusal' | 'uncheckable';
      readonly error: unknown;
    };

/** Asks the dialect who it is; a preflight is nobody's. */
export function identify({ dialect, request, found }: Exchange): Caller | Promise<Caller> {
  if (request.method === 'OPTIONS' && dialect.answerPreflight !== undefined) {
    return { principal: undefined, purpose: 'preflight' };
  }
  const known = (principal: Principal): Caller => ({ principal, purpose: 'request' });
  // It may be right where it cannot be checked, so it counts against nobody.
  const refused = (error: unknown): Caller => ({
    principal: undefined,
    purpose: error instanceof CredentialUncheckable ? 'uncheckable' : 'refusal',
    error,
  });
  try {
    const principal = dialect.identify(request, found?.served.route.access);
    return principal instanceof Promise ? principal.then(known, refused) : known(principal);
  } catch (error) {
    return refused(error);
  }
}
