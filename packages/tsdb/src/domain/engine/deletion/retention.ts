import type { Clock, Leases } from '@plinth/kernel';
import { SegmentsChanged } from '../../../storage/segments/segment-registry.js';
import type { FileCommits } from '../flush/file-commits.js';
import type { TableStore } from '../table/table-store.js';

export interface RetentionDeps {
  readonly tables: () => Iterable<TableStore>;
  /** Where the table's retention period begins. */
  readonly visibleFromNs: (store: TableStore) => bigint;
  readonly commits: FileCommits;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Removes segments that have left the retention period as a whole. Their rows are hidden from queries already; the
 * rows of other segments go when those are compacted.
 */
export class Retention {
  readonly #needs: RetentionDeps;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;

  constructor(needs: RetentionDeps) {
    this.#needs = needs;
  }

  start(): void {
    this.#ticker ??= this.#needs.clock.every(this.#needs.intervalMs, () => this.check());
  }

  /** Resolves when what has left its period is gone. */
  check(): Promise<void> {
    this.#running ??= this.#needs.leases
      .withLease('tsdb.retention', () => this.#removeExpired())
      .then(() => undefined, this.#needs.onFailed)
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#running;
  }

  async #removeExpired(): Promise<void> {
    for (const store of this.#needs.tables()) {
      const fromNs = this.#needs.visibleFromNs(store);
      const expired = store.segments
        .map((open) => open.segment)
        .filter((segment) => segment.maxTime < fromNs);
      if (expired.length === 0 || store.isGone) continue;
      const publication = store.publication({ removed: expired });
      try {
        await this.#needs.commits.commit(() => ({
          change: {
            addSegments: [],
            removeSegments: expired.map((segment) => segment.id),
            addSeriesFiles: [],
            removeSeriesFiles: [],
          },
          publications: [publication],
        }));
      } catch (error) {
        // A compaction was faster; what it wrote is looked at next time.
        if (error instanceof SegmentsChanged) continue;
        throw error;
      }
    }
  }
}
