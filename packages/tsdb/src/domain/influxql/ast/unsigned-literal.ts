/** A whole number above 2^63 - 1. */
export interface UnsignedLiteral {
  readonly kind: 'unsigned';
  readonly value: bigint;
}
