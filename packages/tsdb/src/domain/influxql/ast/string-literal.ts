export interface StringLiteral {
  readonly kind: 'string';
  readonly value: string;
}
