import type { Field } from '../ast/field.js';
import type { SelectStatement } from '../ast/select-statement.js';
import type { BoundSource } from './source.js';

/** A SELECT whose sources are found and whose wildcards and regular expressions are written out. */
export interface ExpandedSelect extends Omit<SelectStatement, 'sources' | 'fields'> {
  readonly fields: readonly Field[];
  readonly bound: readonly BoundSource[];
}
