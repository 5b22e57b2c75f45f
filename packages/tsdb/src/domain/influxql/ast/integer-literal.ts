/** A whole number within 64 signed bits. */
export interface IntegerLiteral {
  readonly kind: 'integer';
  readonly value: bigint;
}
