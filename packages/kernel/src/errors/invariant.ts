/** A broken invariant: a bug in this code, never a client's mistake. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken';
}

/** Throws `InvariantBroken` when an internal assumption is violated; never for client input. */
export function invariant(condition: unknown, why: string): asserts condition {
  if (!condition) throw new InvariantBroken(why);
}

/** Ends a `switch` over a union, so that a new member does not compile without a case. */
export function assertNever(value: never): never {
  throw new InvariantBroken(`unexpected value ${JSON.stringify(value)}`);
}
