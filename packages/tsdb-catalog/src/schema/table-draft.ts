import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import { MESSAGE_TYPE } from '@plinth/tsdb-model/columns/column.js';
import type { CatalogLimits } from '@plinth/tsdb-model/database/limits.js';
import { columnLimitMessage, tagLimitMessage } from '@plinth/tsdb-model/database/limits.js';
import { isReservedColumn } from '@plinth/tsdb-model/database/names.js';
import type { RefusalReason } from '@plinth/tsdb-model/refused-line.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';

export interface NewColumn {
  readonly name: string;
  readonly kind: Exclude<ColumnKind, 'time'>;
}

export interface Refusal {
  readonly message: string;
  readonly reason: RefusalReason;
}

/**
 * The table after a request: the existing columns plus the columns of the rows accepted so far. The
 * columns of a row are first `require`d one by one, then kept or dropped together, so that a rejected row has no effect.
 */
export class TableDraft {
  readonly name: string;
  readonly base: TableSchema | undefined;
  readonly #limits: CatalogLimits;
  /** Columns in order of appearance; the last `#pendingCount` belong to the current row. */
  readonly #added: NewColumn[] = [];
  readonly #addedKinds = new Map<string, ColumnKind>();
  #pendingCount = 0;
  #columnCount: number;
  #tagCount: number;
  #exists: boolean;

  constructor(name: string, base: TableSchema | undefined, limits: CatalogLimits) {
    this.name = name;
    this.base = base;
    this.#limits = limits;
    this.#columnCount = base === undefined ? 0 : base.columns.size - 1; // `time` does not count
    this.#tagCount = base === undefined ? 0 : base.seriesKey.length;
    this.#exists = base !== undefined;
  }

  /** Kept columns that the table does not have yet. */
  get added(): readonly NewColumn[] {
    return this.#added;
  }

  /** False for a table that does not exist and has no accepted row. */
  get exists(): boolean {
    return this.#exists;
  }

  get hasChanges(): boolean {
    return this.#exists && (this.base === undefined || this.#added.length > 0);
  }

  /** Type of the column, including columns of the current row. */
  kindOf(name: string): ColumnKind | undefined {
    return this.base?.columns.get(name)?.kind ?? this.#addedKinds.get(name);
  }

  /** Records that the current row needs the column. @returns the reason if it is rejected. */
  require(name: string, kind: NewColumn['kind']): Refusal | undefined {
    // The first accepted row creates the table, including the column `time`.
    const existing = this.kindOf(name) ?? (name === 'time' && this.#exists ? 'time' : undefined);
    if (existing === kind) return undefined;
    if (existing !== undefined) {
      return {
        message: conflictMessage({ column: name, existing, got: kind }),
        reason: 'type_conflict',
      };
    }
    const renamedTo = this.base?.formerColumns?.get(name);
    if (renamedTo !== undefined) {
      const message = `column '${name}' was renamed to '${renamedTo}'; write '${renamedTo}'`;
      return { message, reason: 'renamed' };
    }
    if (isReservedColumn(name)) {
      return { message: `'${name}' is a reserved column`, reason: 'reserved_name' };
    }
    if (this.#columnCount >= this.#limits.columnCountPerTable) {
      return { message: columnLimitMessage(this.#limits.columnCountPerTable), reason: 'limit' };
    }
    if (kind === 'tag' && this.#tagCount >= this.#limits.tagCountPerTable) {
      return { message: tagLimitMessage(this.#limits.tagCountPerTable), reason: 'limit' };
    }
    this.#added.push({ name, kind });
    this.#addedKinds.set(name, kind);
    this.#pendingCount++;
    this.#columnCount++;
    if (kind === 'tag') this.#tagCount++;
    return undefined;
  }

  commitRow(): void {
    this.#pendingCount = 0;
    this.#exists = true;
  }

  rollbackRow(): void {
    for (; this.#pendingCount > 0; this.#pendingCount--) {
      const column = this.#added.pop();
      if (column === undefined) return;
      this.#addedKinds.delete(column.name);
      this.#columnCount--;
      if (column.kind === 'tag') this.#tagCount--;
    }
  }
}

function conflictMessage(options: {
  column: string;
  existing: ColumnKind;
  got: ColumnKind;
}): string {
  return `invalid column type for column '${options.column}', expected ${MESSAGE_TYPE[options.existing]}, got ${MESSAGE_TYPE[options.got]}`;
}
