/**
 * Time buckets of a result: `count` of them, the first starting at `firstNs`. A group bucket is one
 * bucket of one group of tag values; its index is `group * count + bucket`.
 */
export interface Buckets {
  readonly firstNs: bigint;
  readonly widthNs: bigint;
  readonly originNs: bigint;
  readonly count: number;
}

/** A single bucket for all timestamps. */
export const NO_BUCKETS: Buckets = { firstNs: 0n, widthNs: 0n, originNs: 0n, count: 1 };
