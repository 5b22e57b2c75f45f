/** `$name`; replaced by a literal before a statement is planned. */
export interface BoundParameter {
  readonly kind: 'parameter';
  readonly name: string;
}
