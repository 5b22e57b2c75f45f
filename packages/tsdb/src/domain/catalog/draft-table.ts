import { SchemaLimitReached, TableDefinitionInvalid } from '../../errors.js';
import type { FieldType } from '../../model/column.js';
import type { CatalogLimits } from './limits.js';
import { type NewColumn, TableDraft } from './table-draft.js';

export interface TableDefinition {
  readonly database: string;
  readonly table: string;
  /** In the order of the series key. */
  readonly tags: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
}

/** Throws `TableDefinitionInvalid`, `SchemaLimitReached`. */
export function draftTable(definition: TableDefinition, limits: CatalogLimits): TableDraft {
  const draft = new TableDraft(definition.table, undefined, limits);
  const columns: readonly NewColumn[] = [
    ...definition.tags.map((name): NewColumn => ({ name, kind: 'tag' })),
    ...definition.fields.map(({ name, type }): NewColumn => ({ name, kind: type })),
  ];
  for (const { name, kind } of columns) {
    if (name === '') throw new TableDefinitionInvalid('column name cannot be empty');
    const refusal = draft.require(name, kind);
    if (refusal?.isLimit === true) throw new SchemaLimitReached(refusal.message);
    if (refusal !== undefined) throw new TableDefinitionInvalid(refusal.message);
  }
  draft.keepRow();
  return draft;
}
