/** `/source/` with `\/` already unescaped. */
export interface RegexLiteral {
  readonly kind: 'regex';
  readonly source: string;
}
