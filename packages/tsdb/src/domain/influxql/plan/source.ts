import type { DatabaseSchema, TableSchema } from '../../../model/schema.js';
import type { DataType } from './data-type.js';
import type { ExpandedSelect } from './expanded-select.js';

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

/** What can be asked of a source. */
export interface SourceColumns {
  readonly fields: ReadonlyMap<string, DataType>;
  readonly tags: ReadonlySet<string>;
}
