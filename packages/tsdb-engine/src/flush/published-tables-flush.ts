import type { Clock } from '@plinth/kernel';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';

/** Tables that are published as Iceberg tables. Their readers see only segments, so their rows are flushed earlier. */
export interface PublishedTablesPolicy {
  /** Maximum age of their rows in memory. */
  readonly ageMs: number;
  includes(tableId: number): boolean;
}

/** Decides when and which rows are flushed for the readers of published tables. */
export class PublishedTablesFlush {
  /** `undefined` if all tables are flushed at the same age. */
  policy: PublishedTablesPolicy | undefined;
  readonly #deps: { readonly tables: () => Iterable<TableStore>; readonly clock: Clock };
  /** Time at which rows of a published table were first seen in memory. */
  #sinceMs: number | undefined;

  constructor(deps: { readonly tables: () => Iterable<TableStore>; readonly clock: Clock }) {
    this.#deps = deps;
  }

  /**
   * Called once a second. The age of the rows is measured from the first call with rows in memory.
   */
  checkDue(): boolean {
    const { policy } = this;
    if (policy === undefined) return false;
    if (!this.#hasRows(policy)) {
      this.#sinceMs = undefined;
      return false;
    }
    const nowMs = this.#deps.clock.monotonicMs();
    this.#sinceMs ??= nowMs;
    return nowMs - this.#sinceMs >= policy.ageMs;
  }

  /**
   * Restarts the age of the rows. Returns the tables of `generation` that stay in memory: all that are not published, or those in `kept` that are not published.
   * Rows with pending deletions are written, so that the deletions can be carried out.
   */
  beginFlush(
    generation: number,
    kept: readonly GenerationTable[] | undefined,
  ): readonly GenerationTable[] {
    this.#sinceMs = undefined;
    const others: GenerationTable[] = [];
    for (const store of this.#deps.tables()) {
      if (this.policy?.includes(store.tableId) === true || store.tombstones.all.length > 0)
        continue;
      const table = store.isBeingRemoved ? undefined : store.generation(generation);
      if (table !== undefined && (kept === undefined || kept.includes(table))) others.push(table);
    }
    return others;
  }

  #hasRows(policy: PublishedTablesPolicy): boolean {
    for (const store of this.#deps.tables())
      if (policy.includes(store.tableId) && store.minBufferedSeq !== undefined) return true;
    return false;
  }
}
