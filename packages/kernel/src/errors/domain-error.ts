/**
 * An expected failure: an `Error` whose class has a literal `kind`. There is no base class, so that each
 * service's closed union of its errors stays a union of its own classes.
 */
export interface DomainError extends Error {
  readonly kind: string;
}

/** Tells an expected failure from a bug. Errors of the platform have a `code`, never a `kind`. */
export function isDomainError(error: unknown): error is DomainError {
  return error instanceof Error && 'kind' in error && typeof error.kind === 'string';
}
