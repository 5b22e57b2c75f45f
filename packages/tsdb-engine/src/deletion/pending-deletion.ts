import type { Clock } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableStore } from '../table/table-store.js';
import type { Tombstone } from '../table/tombstones.js';

/** Maximum time for which flush and compaction wait for the deletion. */
export const MAX_FIND_MS = 30_000;

/**
 * A deletion whose rows are still being found. Its `seq` is assigned at the start, and until it
 * ends, no file is written that could mix older and newer rows.
 */
export class PendingDeletion {
  readonly #store: TableStore;
  readonly #clock: Clock;
  readonly #nextSeq: () => bigint;
  #announced: { readonly tombstone: Tombstone; readonly end: () => void } | undefined;
  #hasTimedOut = false;

  constructor(options: {
    readonly store: TableStore;
    readonly clock: Clock;
    readonly nextSeq: () => bigint;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#nextSeq = options.nextSeq;
  }

  /** Assigns the `seq`: later rows are not deleted. A further call replaces it. */
  announce(): void {
    this.end();
    const { tombstones, tableId } = this.#store;
    const range = { minTimeNs: MIN_TIME_NS, maxTimeNs: MAX_TIME_NS };
    const tombstone = { id: '', tableId, seq: this.#nextSeq(), ...range, anyOf: [] };
    const timeout = new AbortController();
    const outcome = new Promise<void>((resolve) => {
      const end = (): void => {
        tombstones.discard(tombstone);
        timeout.abort();
        resolve();
      };
      this.#announced = { tombstone, end };
    });
    tombstones.announce(tombstone, outcome);
    this.#clock.sleep(MAX_FIND_MS, timeout.signal).then(
      () => {
        this.#hasTimedOut = true;
        this.end();
      },
      () => undefined, // it ended before
    );
  }

  /** Throws `deletion_timed_out`. */
  get seq(): bigint {
    if (this.#hasTimedOut) {
      const table = this.#store.schema.name;
      throw tsdbError('deletion_timed_out', { table, maxMs: MAX_FIND_MS });
    }
    if (this.#announced === undefined) throw new Error('the scan did not report its snapshot');
    return this.#announced.tombstone.seq;
  }

  /** Calling it twice is harmless. */
  end(): void {
    this.#announced?.end();
    this.#announced = undefined;
  }
}
