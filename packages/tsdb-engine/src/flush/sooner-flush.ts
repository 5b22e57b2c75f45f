import type { Clock } from '@plinth/kernel';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';

/** Tables whose rows must be in segments earlier than those of others. */
export interface SoonerTables {
  /** Maximum age of their rows in memory. */
  readonly ageMs: number;
  wants(tableId: number): boolean;
}

/** Decides when and which rows are flushed for the readers of published tables. */
export class SoonerFlush {
  /** `undefined` if all tables are flushed at the same age. */
  tables: SoonerTables | undefined;
  readonly #deps: { readonly tables: () => Iterable<TableStore>; readonly clock: Clock };
  /** When rows of a wanted table were first seen in memory. */
  #sinceMs: number | undefined;

  constructor(deps: { readonly tables: () => Iterable<TableStore>; readonly clock: Clock }) {
    this.#deps = deps;
  }

  /** Called once a second. */
  get isDue(): boolean {
    const { tables } = this;
    if (tables === undefined) return false;
    if (!this.#hasRows(tables)) {
      this.#sinceMs = undefined;
      return false;
    }
    const nowMs = this.#deps.clock.monotonicMs();
    this.#sinceMs ??= nowMs;
    return nowMs - this.#sinceMs >= tables.ageMs;
  }

  /**
   * The tables of `generation` that stay in memory: all that are not wanted, or those in `kept` that are not wanted.
   * Rows with pending deletions are written, so that the deletions can be carried out.
   */
  othersOf(
    generation: number,
    kept: readonly GenerationTable[] | undefined,
  ): readonly GenerationTable[] {
    this.#sinceMs = undefined;
    const others: GenerationTable[] = [];
    for (const store of this.#deps.tables()) {
      if (this.tables?.wants(store.tableId) === true || store.tombstones.all.length > 0) continue;
      const table = store.isGone ? undefined : store.generation(generation);
      if (table !== undefined && (kept === undefined || kept.includes(table))) others.push(table);
    }
    return others;
  }

  #hasRows(tables: SoonerTables): boolean {
    for (const store of this.#deps.tables())
      if (tables.wants(store.tableId) && store.minBufferedSeq !== undefined) return true;
    return false;
  }
}
