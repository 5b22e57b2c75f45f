import { hasLoneSurrogate, isPlainText } from '@plinth/kernel';
import type { FieldType } from '@plinth/tsdb-model/columns/column.js';
import type { CatalogLimits } from '@plinth/tsdb-model/database/limits.js';
import { MAX_TEXT_BYTES } from '@plinth/tsdb-model/database/limits.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { type NewColumn, TableDraft } from './table-draft.js';

export interface TableDefinition {
  readonly database: string;
  readonly table: string;
  /** Tags in the order of the series key. */
  readonly tags: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
}

/** Throws `table_definition_invalid`, `schema_limit_reached`. */
export function draftTable(definition: TableDefinition, limits: CatalogLimits): TableDraft {
  assertTableName(definition.table);
  const draft = new TableDraft(definition.table, undefined, limits);
  const columns: readonly NewColumn[] = [
    ...definition.tags.map((name): NewColumn => ({ name, kind: 'tag' })),
    ...definition.fields.map(({ name, type }): NewColumn => ({ name, kind: type })),
  ];
  const seen = new Set<string>();
  for (const { name, kind } of columns) {
    assertColumnName(name);
    if (seen.has(name) && kind === 'tag') {
      throw tsdbError('table_definition_invalid', `column '${name}' is specified twice`);
    }
    seen.add(name);
    const refusal = draft.require(name, kind);
    if (refusal?.reason === 'limit') throw tsdbError('schema_limit_reached', refusal.message);
    if (refusal !== undefined) throw tsdbError('table_definition_invalid', refusal.message);
  }
  draft.commitRow();
  return draft;
}

/** Throws `table_definition_invalid`. */
export function assertTableName(name: string): void {
  assertWritable('table', name);
  // Line protocol allows NUL in column names, but not in table names.
  if (isPlainText(name)) return;
  const what = name.includes('\0') ? 'NUL' : 'control characters';
  throw tsdbError('table_definition_invalid', `table name cannot contain ${what}`);
}

/** Throws `table_definition_invalid`. */
export const assertColumnName = (name: string): void => assertWritable('column', name);

/** Rejects names that line protocol cannot express. Source: tsdb-http, "Line protocol grammar". */
function assertWritable(what: 'table' | 'column', name: string): void {
  if (name === '') throw tsdbError('table_definition_invalid', `${what} name cannot be empty`);
  if (hasLoneSurrogate(name)) {
    throw tsdbError('table_definition_invalid', `${what} name contains an unpaired surrogate`);
  }
  if (Buffer.byteLength(name) > MAX_TEXT_BYTES) {
    throw tsdbError(
      'table_definition_invalid',
      `${what} name is longer than ${MAX_TEXT_BYTES} bytes`,
    );
  }
}
