/** More of them is no chain, but a circle. */
const MAX_DEPTH = 8;

/** What was thrown and what it comes from, as far as these are errors. */
export function causesOf(thrown: unknown): readonly Error[] {
  const causes: Error[] = [];
  let cause = thrown;
  for (; causes.length < MAX_DEPTH && cause instanceof Error; cause = cause.cause) {
    causes.push(cause);
  }
  return causes;
}
