/** Formats a duration like Go: `168h0m0s`, or `0s` for zero. */
export function goDuration(ns: bigint): string {
  const seconds = ns / 1_000_000_000n;
  const [h, m, s] = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n];
  if (h > 0n) return `${h}h${m}m${s}s`;
  return m > 0n ? `${m}m${s}s` : `${s}s`;
}
