import type { Clock, Leases } from '@plinth/kernel';
import type { SegmentRegistry } from '../../../storage/segments/segment-registry.js';
import type { CatalogDeletions } from '../../catalog/deletion/catalog-deletions.js';
import type { TableStore } from '../table/table-store.js';

const CHECK_INTERVAL_MS = 1000;

export interface HardDeletionsDeps {
  readonly deletions: CatalogDeletions;
  readonly registry: SegmentRegistry;
  readonly store: (tableId: number) => TableStore | undefined;
  /** Called when the data of tables are gone. */
  readonly forget: (tableIds: readonly number[]) => void;
  readonly leases: Leases;
  readonly clock: Clock;
  /** So long a thing without data is still listed. */
  readonly graceMs: number;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Removes the data of deleted databases and tables when their time has come. What is due stands in the catalog, so that
 * a node that ends meanwhile goes on at its next start: first nothing is registered of a table any more, then its files
 * go, then a flush empties the log of its rows.
 */
export class HardDeletions {
  readonly #needs: HardDeletionsDeps;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isAsked = false;

  constructor(needs: HardDeletionsDeps) {
    this.#needs = needs;
  }

  start(): void {
    this.#ticker ??= this.#needs.clock.every(CHECK_INTERVAL_MS, () => this.checkSoon());
  }

  /** Starts to remove in the background what is due. */
  checkSoon(): void {
    this.#isAsked = true;
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
    while (this.#isAsked) {
      this.#isAsked = false;
      await this.#needs.leases
        .withLease('tsdb.hard_deletion', () => this.#removeDue())
        .catch(this.#needs.onFailed);
    }
  }

  async #removeDue(): Promise<void> {
    await this.#needs.deletions.purgeDue({
      begin: (tableIds) => {
        for (const id of tableIds) {
          const store = this.#needs.store(id);
          // From here on a flush or compaction under way keeps nothing of it.
          if (store !== undefined) store.isGone = true;
        }
      },
      write: async (tx, tableIds) => {
        for (const id of tableIds) await this.#needs.registry.removeTable(tx, id);
      },
      end: async (tableIds) => {
        for (const id of tableIds) await this.#needs.store(id)?.vanish();
        if (tableIds.length > 0) this.#needs.forget(tableIds);
      },
    });
    await this.#needs.deletions.forgetPurged(this.#needs.clock.nowMs() - this.#needs.graceMs);
  }
}
