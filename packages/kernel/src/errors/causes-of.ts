/** Longer chains are circular. */
const MAX_DEPTH = 8;

/** Returns the thrown error and those of its causes that are errors. */
export function causesOf(thrown: unknown): readonly Error[] {
  const causes: Error[] = [];
  let cause = thrown;
  for (; causes.length < MAX_DEPTH && cause instanceof Error; cause = cause.cause) {
    causes.push(cause);
  }
  return causes;
}
