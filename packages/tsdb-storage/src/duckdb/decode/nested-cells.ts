import {
  DuckDBListVector,
  DuckDBMapVector,
  DuckDBStructVector,
  type DuckDBType,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api';
import { invariant } from '@plinth/kernel';
import { hasLists, leafCount, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { STEP_ROWS, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { toCell } from './decode-cell.js';

type Vector = DuckDBVector<DuckDBValue>;

/**
 * Decodes the nested values of one chunk in steps, because a single list may contain the values of
 * a complete table.
 */
export class NestedCells {
  /** Values since the last step, over all lists and rows. */
  #count = 0;

  /** Decodes all values of a vector to the representation of the `SqlType` table. */
  *of(vector: Vector, type: SqlType): Steps<unknown[]> {
    const cells: unknown[] = [];
    const isFlat = !hasLists(type);
    const size = leafCount(type);
    for (let row = 0; row < vector.itemCount; row++) {
      if (this.#isStepEnd(size)) yield;
      cells.push(isFlat ? toCell(vector.getItem(row), type) : yield* this.#cell(vector, type, row));
    }
    return cells;
  }

  *#cell(vector: Vector, type: SqlType, row: number): Steps<unknown> {
    if (!hasLists(type)) return toCell(vector.getItem(row), type);
    switch (type.kind) {
      case 'list': {
        if (!(vector instanceof DuckDBListVector)) break;
        const items = vector.getItemVector(row);
        return items === null ? null : yield* this.of(items, type.element);
      }
      case 'map':
        if (!(vector instanceof DuckDBMapVector)) break;
        return yield* this.#pairs(listOf(vector).getItemVector(row), type);
      case 'struct': {
        if (!(vector instanceof DuckDBStructVector)) break;
        if (!vector.isItemValid(row)) return null;
        const cells = Object.create(null) as Record<string, unknown>;
        const names = namesOf(vector.type);
        for (const field of type.fields) {
          const index = names.indexOf(field.name);
          cells[field.name] =
            index < 0 ? null : yield* this.#cell(vector.entryVectorAt(index), field.type, row);
        }
        return cells;
      }
    }
    // If every value is NULL, DuckDB may return a vector of another type.
    return toCell(vector.getItem(row), type);
  }

  *#pairs(
    entries: Vector | null,
    type: Extract<SqlType, { readonly kind: 'map' }>,
  ): Steps<unknown[] | null> {
    if (entries === null) return null;
    invariant(entries instanceof DuckDBStructVector, 'the entries of a map are not structs');
    const keys = yield* this.of(entries.entryVectorAt(0), type.key);
    const values = yield* this.of(entries.entryVectorAt(1), type.value);
    const pairs: unknown[] = [];
    for (let i = 0; i < keys.length; i++) {
      if (this.#isStepEnd(1)) yield;
      pairs.push([keys[i], values[i]]);
    }
    return pairs;
  }

  #isStepEnd(size: number): boolean {
    this.#count += size;
    if (this.#count < STEP_ROWS) return false;
    this.#count = 0;
    return true;
  }
}

const namesOf = (type: DuckDBType): readonly string[] =>
  (type as { readonly entryNames?: readonly string[] }).entryNames ?? []; // struct types have this property

/** Returns the list of entries of a map, which the binding's types hide. */
const listOf = (vector: DuckDBMapVector): DuckDBListVector =>
  (vector as unknown as { readonly listVector: DuckDBListVector }).listVector;
