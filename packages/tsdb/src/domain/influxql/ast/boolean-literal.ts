export interface BooleanLiteral {
  readonly kind: 'boolean';
  readonly value: boolean;
}
