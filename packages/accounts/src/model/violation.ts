import type { ErrorCode } from './error-codes.js';

/** One rule that a request breaks. */
export interface Violation {
  readonly code: ErrorCode;
  /**
   * Dotted path of the offending field in the request's notation; list indexes are separate parts.
   */
  readonly param?: string;
  /** One English sentence with the path and the value, never with a secret or id number. */
  readonly message: string;
  /** Message for the end user, by default `message`. Only codes with `U` show it. */
  readonly userMessage?: string;
  /** Further members of the error body, for example `age_limit`. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A rejected request, which has changed nothing. The HTTP edge maps each code to a status. */
export class AccountsRefused extends Error {
  override readonly name = 'AccountsRefused';
  readonly kind = 'accounts_refused';
  readonly violation: Violation;
  constructor(violation: Violation) {
    super(violation.message);
    this.violation = violation;
  }
}

/** Throws `AccountsRefused` if there is a violation. */
export function refuse(violation: Violation | undefined): void {
  if (violation !== undefined) throw new AccountsRefused(violation);
}
