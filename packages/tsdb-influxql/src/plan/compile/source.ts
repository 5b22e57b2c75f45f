import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Field, SelectStatement } from '../../ast/select.js';
import type { DataType } from '../data-type.js';

export interface TableSource {
  readonly kind: 'table';
  readonly name: string;
  readonly database: DatabaseSchema;
  readonly table: TableSchema;
}

export interface SubquerySource {
  readonly kind: 'subquery';
  readonly select: ExpandedSelect;
}

export type BoundSource = TableSource | SubquerySource;

/** A SELECT with resolved sources and expanded wildcards and regular expressions. */
export interface ExpandedSelect extends Omit<SelectStatement, 'sources' | 'fields'> {
  readonly fields: readonly Field[];
  readonly bound: readonly BoundSource[];
}

/** Field types and tags of a source. */
export interface SourceColumns {
  readonly fields: ReadonlyMap<string, DataType>;
  readonly tags: ReadonlySet<string>;
}
