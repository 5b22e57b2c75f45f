import type { Clock } from '@plinth/kernel';
import type { CommittedRows } from '@plinth/tsdb-engine/write/commit-listener.js';
import { batchSizeBytes } from '@plinth/tsdb-model/columns/row-batch.js';

/** Maximum size of rows that wait for a slow trigger. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** Without a reason, each abort would create an error with a stack. */
const REPLACED = 'replaced';

export interface GatheredWrites {
  readonly rows: readonly CommittedRows[];
  readonly rowCount: number;
  /**
   * Length of the longest chain of plugin runs that led to one of the rows; 0 for client writes.
   */
  readonly depth: number;
}

interface WriteGathererDeps {
  readonly clock: Clock;
  readonly pauseMs: number;
  readonly longestMs: number;
  /** Row count at which an idle trigger is called immediately. */
  readonly manyRows: number;
  readonly isBusy: () => boolean;
  /** Returns false if the trigger did not accept the rows. */
  readonly hand: (writes: GatheredWrites) => boolean;
  readonly onSkipped: (rowCount: number) => void;
}

/**
 * Gathers the committed rows of one trigger into calls. An idle trigger receives its rows after
 * `pauseMs`. A busy trigger receives all rows that arrived in the meantime in one call, after at most
 * `longestMs`.
 */
export class WriteGatherer {
  readonly #deps: WriteGathererDeps;
  #timer = new AbortController();
  #isClosed = false;
  #rows: CommittedRows[] = [];
  #rowCount = 0;
  #sizeBytes = 0;
  #depth = 0;
  #startMs = 0;
  #isTiming = false;

  constructor(deps: WriteGathererDeps) {
    this.#deps = deps;
  }

  add(rows: readonly CommittedRows[], depth: number): void {
    if (this.#isClosed) return;
    let sizeBytes = 0;
    let rowCount = 0;
    for (const { batch } of rows) {
      sizeBytes += batchSizeBytes(batch);
      rowCount += batch.rowCount;
    }
    if (this.#sizeBytes + sizeBytes > MAX_WAITING_BYTES && this.#rowCount > 0) {
      this.#deps.onSkipped(rowCount);
      return;
    }
    if (this.#rowCount === 0) this.#startMs = this.#deps.clock.monotonicMs();
    this.#rows.push(...rows);
    this.#rowCount += rowCount;
    this.#sizeBytes += sizeBytes;
    this.#depth = Math.max(this.#depth, depth);
    if (!this.#isTiming) this.#time();
    else if (this.#rowCount >= this.#deps.manyRows && !this.#deps.isBusy()) this.wake();
  }

  /** Call when the trigger becomes idle. */
  wake(): void {
    if (this.#rowCount === 0) return;
    this.#timer.abort(REPLACED);
    this.#timer = new AbortController();
    this.#time();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer.abort();
    this.#rows = [];
    this.#rowCount = 0;
  }

  #time(): void {
    this.#isTiming = true;
    const ageMs = this.#deps.clock.monotonicMs() - this.#startMs;
    const pauseMs = this.#rowCount >= this.#deps.manyRows ? 0 : this.#deps.pauseMs;
    const waitMs = this.#deps.isBusy() ? this.#deps.longestMs - ageMs : pauseMs - ageMs;
    this.#deps.clock.sleep(Math.max(0, waitMs), this.#timer.signal).then(
      () => {
        this.#isTiming = false;
        this.#emit();
      },
      () => undefined, // Another timer replaced this one, or the gatherer was closed.
    );
  }

  #emit(): void {
    if (this.#rowCount === 0) return;
    const writes = { rows: this.#rows, rowCount: this.#rowCount, depth: this.#depth };
    this.#rows = [];
    this.#rowCount = 0;
    this.#sizeBytes = 0;
    this.#depth = 0;
    if (!this.#deps.hand(writes)) this.#deps.onSkipped(writes.rowCount);
  }
}
