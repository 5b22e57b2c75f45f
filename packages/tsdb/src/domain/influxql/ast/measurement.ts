import type { RegexLiteral } from './regex-literal.js';

/** A table, or all whose names match, perhaps qualified by database and retention policy. */
export interface Measurement {
  readonly kind: 'measurement';
  readonly database?: string;
  readonly policy?: string;
  readonly name: string | RegexLiteral;
}
