import type { Clock, Leases } from '@plinth/kernel';
import { SegmentsChanged } from '@plinth/tsdb-storage/segments/segments-changed.js';
import type { SegmentCommits } from '../flush/segment-commits.js';
import type { TableStore } from '../table/table-store.js';

export interface RetentionDeps {
  readonly tables: () => Iterable<TableStore>;
  /** Start of the table's retention period. */
  readonly visibleFromNs: (store: TableStore) => bigint;
  readonly segmentCommits: SegmentCommits;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Removes segments that are completely outside the retention period. Queries already hide their
 * rows. Compaction drops expired rows of other segments.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#ticker ??= this.#deps.clock.every(this.#deps.intervalMs, () => this.check());
  }

  /** Resolves when the expired segments are removed. */
  check(): Promise<void> {
    this.#running ??= this.#deps.leases
      .withLease('tsdb.retention', () => this.#removeExpired())
      .then(() => undefined, this.#deps.onFailed)
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
    for (const store of this.#deps.tables()) {
      const fromNs = this.#deps.visibleFromNs(store);
      const expired = store.segments
        .map((open) => open.segment)
        .filter((segment) => segment.maxTime < fromNs);
      if (expired.length === 0 || store.isBeingRemoved) continue;
      const postCommitUpdate = store.postCommitUpdate({ removed: expired });
      try {
        await this.#deps.segmentCommits.commit(() => ({
          change: {
            addSegments: [],
            removeSegments: expired.map((segment) => segment.id),
            addSeriesFiles: [],
            removeSeriesFiles: [],
          },
          postCommitUpdates: [postCommitUpdate],
        }));
      } catch (error) {
        // A compaction replaced the segment; the next check covers its output.
        if (error instanceof SegmentsChanged) continue;
        throw error;
      }
    }
  }
}
