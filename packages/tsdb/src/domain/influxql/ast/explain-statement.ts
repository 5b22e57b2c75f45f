import type { SelectStatement } from './select-statement.js';

export interface ExplainStatement {
  readonly kind: 'explain';
  readonly analyze: boolean;
  readonly verbose: boolean;
  readonly select: SelectStatement;
}
