/** Whether `endMs`, such as the expiry of a token, has passed. `undefined` means that it never expires. */
export const hasExpired = (endMs: number | undefined, nowMs: number): boolean =>
  endMs !== undefined && endMs <= nowMs;
