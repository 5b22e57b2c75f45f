/**
 * A position in the order of all written rows. Every row of writes up to `seq` was handled; with a `count`, only the
 * first `count` matching rows of the write `seq` were handled.
 */
export interface Position {
  readonly seq: bigint;
  readonly count?: number;
}

/** Formats a position for clients, which can send it back in this form. */
export const positionText = ({ seq, count }: Position): string =>
  count === undefined ? String(seq) : `${seq}.${count}`;

/** Returns `undefined` for text that is not a position. */
export function parsePosition(text: string): Position | undefined {
  const [, seq, count] = /^(\d{1,19})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (seq === undefined) return undefined;
  return { seq: BigInt(seq), ...(count !== undefined && { count: Number(count) }) };
}

/** Returns the number of the last write that was handled completely. */
export const completeSeq = ({ seq, count }: Position): bigint =>
  count === undefined ? seq : seq - 1n;
