/** Buckets of time that an answer may have: `count` of them from the one that begins at `firstNs`. */
export interface Buckets {
  readonly firstNs: bigint;
  readonly widthNs: bigint;
  readonly originNs: bigint;
  readonly count: number;
}

/** All times are one. */
export const NO_BUCKETS: Buckets = { firstNs: 0n, widthNs: 0n, originNs: 0n, count: 1 };
