import type { Exclusive } from '@plinth/kernel';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import { Pinned } from '../scan/pinned.js';
import { RepeatedKeys } from '../scan/repeated-keys.js';
import type { Source } from '../scan/sources.js';
import type { GenerationTable } from './generation-table.js';
import { type Generations, generationSources } from './generations.js';
import type { OpenSegment, TableSegments } from './table-segments.js';

/**
 * Finds the points of one table that were written more than once, and keeps their keys until they
 * are merged (ADR 0004).
 */
export class RepeatedPoints {
  readonly #tableId: number;
  readonly #duckDb: DuckDbHost;
  readonly #segments: TableSegments;
  readonly #generations: Generations;
  readonly #exclusive: Exclusive;
  readonly #onError: (error: unknown) => void;
  #keys: RepeatedKeys;
  #pinned: Pinned;
  #nameCount = 0;

  constructor(options: {
    readonly tableId: number;
    readonly duckDb: DuckDbHost;
    readonly segments: TableSegments;
    readonly generations: Generations;
    /** Serializes changes to the sources and repeated points. */
    readonly exclusive: Exclusive;
    readonly onError: (error: unknown) => void;
  }) {
    this.#tableId = options.tableId;
    this.#duckDb = options.duckDb;
    this.#segments = options.segments;
    this.#generations = options.generations;
    this.#exclusive = options.exclusive;
    this.#onError = options.onError;
    this.#keys = new RepeatedKeys({ name: this.#nextName(), duckDb: this.#duckDb });
    this.#pinned = this.#pinnedKeys(this.#keys);
  }

  get keys(): RepeatedKeys {
    return this.#keys;
  }

  /** Pins `keys` while a query reads them. */
  get pinned(): Pinned {
    return this.#pinned;
  }

  /**
   * Finds newly written late rows whose points were written before. Afterwards, queries may see
   * those rows.
   */
  async checkLateRows(): Promise<void> {
    if (this.areLateRowsChecked) return;
    await this.#exclusive.run(async () => {
      for (const table of this.#generations.list) if (!isChecked(table)) await this.#check(table);
    });
  }

  get areLateRowsChecked(): boolean {
    return this.#generations.list.every(isChecked);
  }

  async #check(table: GenerationTable): Promise<void> {
    const from = table.checkedLateRows;
    const to = table.late.rowCount;
    // Rows that arrive later are compared by their own check; a generation that starts now has no
    // rows yet.
    const generations = this.#generations.snapshot();
    await table.late.moveToDuckDb();
    for (const { table: each } of generations) await each.main.moveToDuckDb();
    const { minTime, maxTime } = table.late;
    const overlapping = this.#segments.touching(minTime, maxTime);
    await this.#segments.verifyAll(overlapping);
    const fresh = `(SELECT _series, "time" FROM ${table.lateSource().from} WHERE rowid >= ${from} AND rowid < ${to})`;
    const others = [...this.#segments.sourcesOf(overlapping), ...generationSources(generations)];
    await this.#keys.find({ fresh, minTime, maxTime, others });
    table.checkedLateRows = to;
  }

  /**
   * Called after startup, because the points of an overlay segment also occur in other segments.
   */
  async rememberOverlaid(open: OpenSegment): Promise<void> {
    try {
      await this.#segments.verify(open);
    } catch (error) {
      if (!(error instanceof FileDamaged)) throw error;
      // Kept until the next start: even if the file is restored, its points remain unknown until then.
      open.verified = Promise.reject(error);
      open.verified.catch(() => undefined); // every query that needs the segment receives the error
      return;
    }
    for (const source of this.#segments.sourcesOf([open])) await this.#keys.addAll(source);
  }

  /**
   * Drops the points that occur in none of these sources. On failure, reports it and keeps all
   * points until the next call: queries then merge more than necessary. Call only within
   * `exclusive`.
   */
  async prune(later: readonly Source[]): Promise<void> {
    if (this.#keys.count === 0) return;
    try {
      this.#replaceKeys(await this.#keys.pruned(this.#nextName(), later));
    } catch (error) {
      this.#onError(error);
    }
  }

  #replaceKeys(keys: RepeatedKeys): void {
    const before = this.#pinned;
    this.#keys = keys;
    this.#pinned = this.#pinnedKeys(keys);
    before.retire();
  }

  #nextName(): string {
    return `repeated_${this.#tableId}_${this.#nameCount++}`;
  }

  #pinnedKeys(keys: RepeatedKeys): Pinned {
    return new Pinned(() => {
      keys.drop().catch(this.#onError);
    });
  }
}

const isChecked = ({ checkedLateRows, late }: GenerationTable): boolean =>
  checkedLateRows === late.rowCount;
