import { storedTagNameOf } from '@plinth/tsdb-model/columns/column.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';

/**
 * Current, former and stored names of the tags of one table: see `Column.storedTagName`. A name
 * that a tag once had never belongs to another column, so every current and former name has one
 * stored name.
 */
export class TagNames {
  readonly #storedNames = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(schema: Pick<TableSchema, 'columns' | 'formerColumns'>) {
    for (const column of schema.columns.values()) {
      if (column.kind !== 'tag' || column.storedTagName === undefined) continue;
      this.#storedNames.set(column.name, column.storedTagName);
      this.#names.set(column.storedTagName, column.name);
    }
    for (const [former, present] of schema.formerColumns ?? []) {
      const column = schema.columns.get(present);
      if (column?.kind === 'tag') this.#storedNames.set(former, storedTagNameOf(column));
    }
  }

  /** Whether each name is also the stored name, because no tag was renamed. */
  get areStored(): boolean {
    return this.#storedNames.size === 0;
  }

  /** Returns the stored name of a current, former or stored name. */
  storedNameOf(name: string): string {
    return this.#storedNames.get(name) ?? name;
  }

  /** Returns the current name of a stored name. */
  nameOf(storedName: string): string {
    return this.#names.get(storedName) ?? storedName;
  }
}
