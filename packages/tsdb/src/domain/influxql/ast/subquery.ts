import type { SelectStatement } from './select-statement.js';

export interface Subquery {
  readonly kind: 'subquery';
  readonly select: SelectStatement;
}
