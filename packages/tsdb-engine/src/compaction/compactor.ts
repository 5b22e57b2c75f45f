import { type Clock, type Leases, messageOf } from '@plinth/kernel';
import type { Segment, SeriesFile } from '@plinth/tsdb-model/segment.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';
import { SegmentsChanged } from '@plinth/tsdb-storage/segments/segments-changed.js';
import type { EngineReport } from '../engine-deps.js';
import type { SegmentCommits } from '../flush/segment-commits.js';
import type { TableStore } from '../table/table-store.js';
import { isDeletion, type Tombstone, tombstonesOfSegment } from '../table/tombstones.js';
import {
  type CompactionRange,
  chooseMerge,
  chooseRequestedMerge,
  type Merge,
} from './choose-merge.js';
import { FailedInputs } from './failed-inputs.js';
import { mergeSegments } from './merge-segments.js';
import { chooseSeriesFiles, mergeSeriesFiles } from './merge-series-files.js';

const CHECK_INTERVAL_MS = 10_000;
/** Maximum number of tables with a pending compaction request. */
const MAX_ASKED_TABLES = 100;

/** A merge, with the files that it replaces. */
interface Work {
  readonly inputs: readonly (Segment | SeriesFile)[];
  readonly run: () => Promise<void>;
}

/** Compaction status for operators. */
export interface CompactionState {
  readonly running:
    | { readonly tableId: number; readonly fileCount: number; readonly sinceMs: number }
    | undefined;
  /** Ids of the tables with pending requests. */
  readonly waiting: readonly number[];
  /** Number of merges since the start of the process. */
  readonly mergeCount: number;
  readonly lastFailure:
    | { readonly tableId: number; readonly failedMs: number; readonly error: string }
    | undefined;
}

interface CompactionRequest {
  readonly store: TableStore;
  readonly range: CompactionRange;
}

interface CompactorDeps {
  readonly tables: () => Iterable<TableStore>;
  readonly duckDb: DuckDbHost;
  readonly files: SegmentFiles;
  readonly registry: SegmentRegistry;
  readonly segmentCommits: SegmentCommits;
  /**
   * True if the log contains no rows that only a deletion hides. The next start would read such
   * rows.
   */
  readonly mayForgetDeletions: () => boolean;
  /**
   * Checks the free disk space. If it returns false, the remaining space is reserved for deletions.
   */
  readonly hasSpaceFor: (sizeBytes: number) => boolean;
  readonly leases: Leases;
  readonly clock: Clock;
  /** Start of the table's retention period. */
  readonly visibleFromNs: (store: TableStore) => bigint;
  readonly onMerged: () => void;
  readonly onFailed: EngineReport['compactionFailed'];
  readonly onError: (error: unknown) => void;
}

/**
 * Background compaction, one merge at a time. Merges small segments of a partition, overlays with
 * the points that they overwrite, and series files. After a failed merge, its files are skipped for
 * a while.
 */
export class Compactor {
  readonly #deps: CompactorDeps;
  readonly #failed: FailedInputs;
  /** By table, in the order of the requests. */
  readonly #requested = new Map<number, CompactionRequest>();
  #state: Omit<CompactionState, 'waiting'> = {
    running: undefined,
    mergeCount: 0,
    lastFailure: undefined,
  };
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isClosing = false;

  constructor(deps: CompactorDeps) {
    this.#deps = deps;
    this.#failed = new FailedInputs(() => deps.clock.monotonicMs());
  }

  start(): void {
    this.#ticker ??= this.#deps.clock.every(CHECK_INTERVAL_MS, () => void this.compactWhenDue());
  }

  get state(): CompactionState {
    return { ...this.#state, waiting: [...this.#requested.keys()] };
  }

  /**
   * Merges the files of a table within a time range, after any running merge. Returns false if too
   * many requests are pending.
   */
  compactSoon(store: TableStore, range: CompactionRange): boolean {
    if (this.#requested.size >= MAX_ASKED_TABLES && !this.#requested.has(store.tableId))
      return false;
    this.#requested.set(store.tableId, { store, range });
    // A pass that is just ending may have missed the request.
    void this.compactWhenDue().then(() =>
      this.#requested.size > 0 ? this.compactWhenDue() : undefined,
    );
    return true;
  }

  /** Runs all due merges in the background. Resolves when they have ended; never rejects. */
  async compactWhenDue(): Promise<void> {
    if (this.#isClosing) return;
    this.#running ??= this.#compact()
      .catch(this.#deps.onError)
      .finally(() => {
        this.#running = undefined;
      });
    await this.#running;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#running;
  }

  /** Compacts each table separately, so that a failure in one does not block the others. */
  async #compact(): Promise<void> {
    await this.#deps.segmentCommits.determineOutcome(); // The merges below are chosen from the registered files.
    const ids = new Set<string>();
    for (const store of this.#deps.tables()) {
      for (;;) {
        if (!(await this.#compactRequested())) return;
        const work = this.#next(store);
        if (work === undefined) break;
        if (!(await this.#do(store, work))) return;
      }
      await this.#removeCarriedOutTombstones(store).catch(this.#deps.onError);
      for (const { segment } of store.segments) ids.add(segment.id);
      for (const { file } of store.series.files) ids.add(file.id);
    }
    this.#failed.keepOnly(ids);
    await this.#compactRequested();
  }

  /** Requested merges run before any other merge. Returns false if another node holds the lease. */
  async #compactRequested(): Promise<boolean> {
    for (const [tableId, requested] of this.#requested) {
      const { store, range } = requested;
      const next = (): Work | undefined => this.#next(store) ?? this.#nextRequested(store, range);
      for (let work = next(); work !== undefined; work = next()) {
        if (!(await this.#do(store, work))) return false;
      }
      // Another time range may have been requested in the meantime.
      if (this.#requested.get(tableId) === requested) this.#requested.delete(tableId);
    }
    return true;
  }

  #nextRequested(store: TableStore, range: CompactionRange): Work | undefined {
    if (this.#isClosing || store.isBeingRemoved) return undefined;
    const segments = store.segments.map((open) => open.segment);
    const merge = chooseRequestedMerge({ segments, isSkipped: this.#isSkippedIn(store) }, range);
    if (merge !== undefined && !this.#hasSpaceFor(merge, store)) return undefined;
    return merge && { inputs: merge.inputs, run: () => this.#merge(store, merge) };
  }

  /**
   * Returns the next step in a table. Its inputs are not chosen again immediately, whether or not
   * it succeeds.
   */
  #next(store: TableStore): Work | undefined {
    if (this.#isClosing || store.isBeingRemoved) return undefined;
    const merge = chooseMerge({
      segments: store.segments.map((open) => open.segment),
      tombstones: store.tombstones.all,
      isSkipped: this.#isSkippedIn(store),
    });
    if (merge !== undefined) {
      if (!this.#hasSpaceFor(merge, store)) return undefined;
      return { inputs: merge.inputs, run: () => this.#merge(store, merge) };
    }
    const inputs = chooseSeriesFiles(
      store.series.files.map(({ file }) => file),
      (file) => this.#failed.isSkipped(file),
    );
    const sizeBytes = inputs.reduce((sum, file) => sum + file.sizeBytes, 0);
    return inputs.length === 0 || !this.#deps.hasSpaceFor(sizeBytes)
      ? undefined
      : { inputs, run: () => this.#mergeSeriesFiles(store, inputs) };
  }

  #isSkippedIn(store: TableStore): (segment: Segment) => boolean {
    return (segment) =>
      this.#failed.isSkipped(segment) ||
      !this.#deps.hasSpaceFor(mostBytesLeft(segment, store.tombstones.all));
  }

  #hasSpaceFor({ inputs }: Merge, { tombstones }: TableStore): boolean {
    return this.#deps.hasSpaceFor(
      inputs.reduce((sum, each) => sum + mostBytesLeft(each, tombstones.all), 0),
    );
  }

  /** Returns false if another node holds the lease. */
  async #do(store: TableStore, { inputs, run }: Work): Promise<boolean> {
    const { tableId } = store;
    const running = { tableId, fileCount: inputs.length, sinceMs: this.#deps.clock.nowMs() };
    this.#state = { ...this.#state, running };
    try {
      const isDone = await this.#deps.leases.withLease('tsdb.compaction', async () => {
        await run();
        return true;
      });
      return isDone === true;
    } catch (error) {
      const damaged = error instanceof FileDamaged ? error : undefined;
      const causes = inputs.filter(({ objectName }) => objectName === damaged?.objectName);
      const isNew = this.#failed.note(causes.length > 0 ? causes : inputs);
      // Retention removed the files first, or the table was deleted.
      if (error instanceof SegmentsChanged || store.isBeingRemoved) return true;
      if (damaged !== undefined) store.noteDamaged(damaged);
      // Damaged segments are reported separately.
      const isReported = store.segments.some(
        ({ segment }) => segment.objectName === damaged?.objectName,
      );
      this.#deps.onFailed({ error, table: store.schema.name, isKnown: !isNew || isReported });
      const lastFailure = { tableId, failedMs: this.#deps.clock.nowMs(), error: messageOf(error) };
      this.#state = { ...this.#state, lastFailure };
      return true;
    } finally {
      this.#state = { ...this.#state, running: undefined };
    }
  }

  /** Removes tombstones that have been applied to all data written before them. */
  async #removeCarriedOutTombstones(store: TableStore): Promise<void> {
    if (store.tombstones.all.length === 0 || store.isBeingRemoved) return;
    if (!this.#deps.mayForgetDeletions()) return;
    const segments = store.segments.map((open) => open.segment);
    const bufferedSeq = store.minBufferedSeq;
    const done = store.tombstones.all.filter(
      (tombstone) =>
        (bufferedSeq === undefined || bufferedSeq > tombstone.seq) &&
        segments.every((segment) => tombstonesOfSegment([tombstone], segment).length === 0),
    );
    if (done.length === 0) return;
    const deletions = done.filter(isDeletion);
    if (deletions.length > 0) {
      const ids = deletions.map(({ id }) => id);
      await this.#deps.registry.removeTombstones(store.tableId, ids);
    }
    store.tombstones.remove(new Set(done.map(({ id }) => id)));
  }

  async #merge(store: TableStore, merge: Merge): Promise<void> {
    const { inputs } = merge;
    const added = await mergeSegments({
      store,
      merge,
      duckDb: this.#deps.duckDb,
      files: this.#deps.files,
      visibleFromNs: this.#deps.visibleFromNs(store),
    });
    const postCommitUpdate = store.postCommitUpdate({
      removed: inputs,
      added: added.map((segment) => store.openVerified(segment)),
    });
    await this.#deps.segmentCommits.commit(() => ({
      change: {
        addSegments: added,
        removeSegments: inputs.map((segment) => segment.id),
        addSeriesFiles: [],
        removeSeriesFiles: [],
      },
      postCommitUpdates: [postCommitUpdate],
    }));
    this.#state = { ...this.#state, mergeCount: this.#state.mergeCount + 1 };
    this.#deps.onMerged();
  }

  async #mergeSeriesFiles(store: TableStore, inputs: readonly SeriesFile[]): Promise<void> {
    const file = await mergeSeriesFiles(store, inputs, this.#deps.files);
    const postCommitUpdate = store.postCommitUpdate({ mergedSeries: { removed: inputs, file } });
    await this.#deps.segmentCommits.commit(() => ({
      change: {
        addSegments: [],
        removeSegments: [],
        addSeriesFiles: [file],
        removeSeriesFiles: inputs.map(({ id }) => id),
      },
      postCommitUpdates: [postCommitUpdate],
    }));
  }
}

/**
 * Returns the upper bound of the segment's size without deleted rows; 0 if a single deletion covers
 * all of them.
 */
function mostBytesLeft(segment: Segment, tombstones: readonly Tombstone[]): number {
  const isDeleted = tombstonesOfSegment(tombstones, segment).some(
    ({ minTimeNs, maxTimeNs, anyOf, columnIds }) =>
      columnIds === undefined &&
      minTimeNs <= segment.minTime &&
      maxTimeNs >= segment.maxTime &&
      anyOf.some((conditions) => conditions.length === 0),
  );
  return isDeleted ? 0 : segment.sizeBytes;
}
