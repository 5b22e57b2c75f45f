import type { Clock, Leases } from '@plinth/kernel';
import type { CatalogDeletions } from '@plinth/tsdb-catalog/deletion/catalog-deletions.js';
import type { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';
import type { TableStore } from '../table/table-store.js';

const CHECK_INTERVAL_MS = 1000;

export interface HardDeletionsDeps {
  readonly deletions: CatalogDeletions;
  readonly registry: SegmentRegistry;
  readonly store: (tableId: number) => TableStore | undefined;
  /** Called when the data of tables has been removed. */
  readonly forget: (tableIds: readonly number[]) => void;
  readonly leases: Leases;
  readonly clock: Clock;
  /** Time for which a deleted object without data remains listed. */
  readonly graceMs: number;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Removes the data of deleted databases and tables when it is due. The catalog stores the due deletions, so a node
 * that stops continues at its next start. First the registry drops the table's files, then the files are deleted,
 * then a flush removes its rows from the log.
 */
export class HardDeletions {
  readonly #deps: HardDeletionsDeps;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isRequested = false;

  constructor(deps: HardDeletionsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#ticker ??= this.#deps.clock.every(CHECK_INTERVAL_MS, () => this.checkSoon());
  }

  /** Starts removing due data in the background. */
  checkSoon(): void {
    this.#isRequested = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false;
      await this.#deps.leases
        .withLease('tsdb.hard_deletion', () => this.#removeDue())
        .catch(this.#deps.onFailed);
    }
  }

  async #removeDue(): Promise<void> {
    await this.#deps.deletions.purgeDue({
      begin: (tableIds) => {
        for (const id of tableIds) {
          const store = this.#deps.store(id);
          // From here on, a running flush or compaction discards its results for the table.
          if (store !== undefined) store.isBeingRemoved = true;
        }
      },
      write: async (tx, tableIds) => {
        for (const id of tableIds) await this.#deps.registry.removeTable(tx, id);
      },
      end: async (tableIds) => {
        for (const id of tableIds) await this.#deps.store(id)?.removeUnregistered();
        if (tableIds.length > 0) this.#deps.forget(tableIds);
      },
    });
    await this.#deps.deletions.forgetPurged(this.#deps.clock.nowMs() - this.#deps.graceMs);
  }
}
