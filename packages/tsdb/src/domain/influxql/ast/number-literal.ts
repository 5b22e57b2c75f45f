/** A number with a fraction. */
export interface NumberLiteral {
  readonly kind: 'number';
  readonly value: number;
}
