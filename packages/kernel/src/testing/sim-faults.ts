/** Failure probabilities per call in [0, 1]; absent means never. */
export interface SimFaults {
  readonly syncFails?: number;
  readonly readFails?: number;
  /** A write stores only a part and then fails with `EIO`. */
  readonly writeIsShort?: number;
  /** The total size of all files. A write beyond this size stores the bytes that fit and fails with `ENOSPC`. */
  readonly capacityBytes?: number;
}
