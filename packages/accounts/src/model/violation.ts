import type { ErrorCode } from './error-codes.js';

/** One rule that a request breaks. */
export interface Violation {
  readonly code: ErrorCode;
  /** Dotted path of the offending field in the request's notation; positions in lists are parts of their own. */
  readonly param?: string;
  /** One English sentence that names the path and the value; never a secret or the number of an id. */
  readonly message: string;
  /** The same for the person in front of the screen; by default `message`. Only codes with `U` show it. */
  readonly userMessage?: string;
  /** Further members of the error body, for example `age_limit`. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The request is refused and has changed nothing. The edge gives each code its status. */
export class AccountsRefused extends Error {
  override readonly name = 'AccountsRefused';
  readonly kind = 'accounts_refused';
  readonly violation: Violation;
  constructor(violation: Violation) {
    super(violation.message);
    this.violation = violation;
  }
}

/** Ends the request with `violation`, if there is one. */
export function refuse(violation: Violation | undefined): void {
  if (violation !== undefined) throw new AccountsRefused(violation);
}
