import { tagKeyOf } from '@plinth/tsdb-model/columns/column.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';

/**
 * Names and keys of the tags of one table: `Column.tagKey`. A name that a tag once had never
 * belongs to another column, so every present and former name has one key.
 */
export class TagNames {
  readonly #keys = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(schema: Pick<TableSchema, 'columns' | 'formerColumns'>) {
    for (const column of schema.columns.values()) {
      if (column.kind !== 'tag' || column.tagKey === undefined) continue;
      this.#keys.set(column.name, column.tagKey);
      this.#names.set(column.tagKey, column.name);
    }
    for (const [former, present] of schema.formerColumns ?? []) {
      const column = schema.columns.get(present);
      if (column?.kind === 'tag') this.#keys.set(former, tagKeyOf(column));
    }
  }

  /** Whether each name is its own key. */
  get areKeys(): boolean {
    return this.#keys.size === 0;
  }

  /** Returns the key of a present or former name; a key returns itself. */
  keyOf(name: string): string {
    return this.#keys.get(name) ?? name;
  }

  nameOf(key: string): string {
    return this.#names.get(key) ?? key;
  }
}
