/** A broken assumption of ours: a bug, never a client's mistake. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken';
}

/** Throws `InvariantBroken` when something does not hold that our own code sees to; never for what a client sent. */
export function invariant(condition: unknown, why: string): asserts condition {
  if (!condition) throw new InvariantBroken(why);
}

/** Ends a `switch` over a union: a new member does not compile until it has a case. */
export function assertNever(value: never): never {
  throw new InvariantBroken(`unexpected value ${JSON.stringify(value)}`);
}
