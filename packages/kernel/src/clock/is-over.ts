/** Whether what ends at `endMs`, as tokens, keys and old secrets do, has ended; `undefined`: it never does. At that very moment it has. */
export const isOver = (endMs: number | undefined, nowMs: number): boolean =>
  endMs !== undefined && endMs <= nowMs;
