import type { Clock, Leases } from '@plinth/kernel';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import { FileDamaged } from '../../../storage/segments/file-sums.js';
import type { Segment, SeriesFile } from '../../../storage/segments/segment.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import {
  type SegmentRegistry,
  SegmentsChanged,
} from '../../../storage/segments/segment-registry.js';
import type { EngineReport } from '../engine-needs.js';
import type { TableStore } from '../table/table-store.js';
import { isDeletion, tombstonesOfSegment } from '../table/tombstones.js';
import { chooseMerge, type Merge } from './choose-merge.js';
import { FailedInputs } from './failed-inputs.js';
import type { FileCommits } from './file-commits.js';
import { mergeSegments } from './merge-segments.js';
import { chooseSeriesFiles, mergeSeriesFiles } from './merge-series-files.js';

const CHECK_INTERVAL_MS = 10_000;

/** One step, with the files that it replaces. */
interface Work {
  readonly inputs: readonly (Segment | SeriesFile)[];
  readonly run: () => Promise<void>;
}

/**
 * Merges small segments of a chunk into larger ones, overlays into the points they overwrite, and series files, in the
 * background: one merge at a time. Files with which a merge has failed are left alone for a while.
 */
export class Compactor {
  readonly #tables: () => Iterable<TableStore>;
  readonly #host: DuckDbHost;
  readonly #files: SegmentFiles;
  readonly #registry: SegmentRegistry;
  readonly #commits: FileCommits;
  readonly #leases: Leases;
  readonly #clock: Clock;
  readonly #visibleFromNs: (store: TableStore) => bigint;
  readonly #onMerged: () => void;
  readonly #onFailed: EngineReport['compactionFailed'];
  readonly #onError: (error: unknown) => void;
  readonly #failed: FailedInputs;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isClosing = false;

  constructor(options: {
    readonly tables: () => Iterable<TableStore>;
    readonly host: DuckDbHost;
    readonly files: SegmentFiles;
    readonly registry: SegmentRegistry;
    readonly commits: FileCommits;
    readonly leases: Leases;
    readonly clock: Clock;
    /** Where the table's retention period begins. */
    readonly visibleFromNs: (store: TableStore) => bigint;
    readonly onMerged: () => void;
    readonly onFailed: EngineReport['compactionFailed'];
    readonly onError: (error: unknown) => void;
  }) {
    this.#tables = options.tables;
    this.#host = options.host;
    this.#files = options.files;
    this.#registry = options.registry;
    this.#commits = options.commits;
    this.#leases = options.leases;
    this.#clock = options.clock;
    this.#visibleFromNs = options.visibleFromNs;
    this.#onMerged = options.onMerged;
    this.#onFailed = options.onFailed;
    this.#onError = options.onError;
    this.#failed = new FailedInputs(() => options.clock.monotonicMs());
  }

  start(): void {
    this.#ticker ??= this.#clock.every(CHECK_INTERVAL_MS, () => void this.compactWhenDue());
  }

  /** Merges in the background what there is to merge; resolves when that is done, and never rejects. */
  async compactWhenDue(): Promise<void> {
    if (this.#isClosing) return;
    this.#running ??= this.#compact()
      .catch(this.#onError)
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

  /** Each table for itself: what fails in one of them must not keep the others waiting. */
  async #compact(): Promise<void> {
    await this.#commits.settle(); // What is chosen below is what is registered.
    const ids = new Set<string>();
    for (const store of this.#tables()) {
      for (let work = this.#next(store); work !== undefined; work = this.#next(store)) {
        if (!(await this.#do(store, work))) return;
      }
      await this.#retireTombstones(store).catch(this.#onError);
      for (const { segment } of store.segments) ids.add(segment.id);
      for (const { file } of store.series.files) ids.add(file.id);
    }
    this.#failed.keepOnly(ids);
  }

  /** What there is to do in a table. Whatever comes of it, the inputs are not chosen again at once. */
  #next(store: TableStore): Work | undefined {
    if (this.#isClosing || store.isGone) return undefined;
    const merge = chooseMerge({
      segments: store.segments.map((open) => open.segment),
      tombstones: store.tombstones.all,
      isAside: (segment) => this.#failed.isAside(segment),
    });
    if (merge !== undefined) {
      return { inputs: merge.inputs, run: () => this.#merge(store, merge) };
    }
    const inputs = chooseSeriesFiles(
      store.series.files.map(({ file }) => file),
      (file) => this.#failed.isAside(file),
    );
    return inputs.length === 0
      ? undefined
      : { inputs, run: () => this.#mergeSeriesFiles(store, inputs) };
  }

  /** False: another node is at it. */
  async #do(store: TableStore, { inputs, run }: Work): Promise<boolean> {
    try {
      const isDone = await this.#leases.withLease('tsdb.compaction', async () => {
        await run();
        return true;
      });
      return isDone === true;
    } catch (error) {
      const damaged = error instanceof FileDamaged ? error : undefined;
      const causes = inputs.filter(({ objectName }) => objectName === damaged?.objectName);
      const isNew = this.#failed.note(causes.length > 0 ? causes : inputs);
      // Retention was faster, or the table went.
      if (error instanceof SegmentsChanged || store.isGone) return true;
      if (damaged !== undefined) store.noteDamaged(damaged);
      // The damage of a segment is told by itself.
      const isTold = store.segments.some(
        ({ segment }) => segment.objectName === damaged?.objectName,
      );
      this.#onFailed({ error, table: store.schema.name, isKnown: !isNew || isTold });
      return true;
    }
  }

  /** Forgets deletions that are carried out in everything that was written before them. */
  async #retireTombstones(store: TableStore): Promise<void> {
    if (store.tombstones.all.length === 0 || store.isGone) return;
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
      await this.#registry.removeTombstones(store.tableId, ids);
    }
    store.tombstones.remove(new Set(done.map(({ id }) => id)));
  }

  async #merge(store: TableStore, merge: Merge): Promise<void> {
    const { inputs } = merge;
    const added = await mergeSegments({
      store,
      merge,
      host: this.#host,
      files: this.#files,
      visibleFromNs: this.#visibleFromNs(store),
    });
    const publication = store.publication({
      removed: inputs,
      added: added.map((segment) => store.openVerified(segment)),
    });
    await this.#commits.commit(() => ({
      change: {
        addSegments: added,
        removeSegments: inputs.map((segment) => segment.id),
        addSeriesFiles: [],
        removeSeriesFiles: [],
      },
      publications: [publication],
    }));
    this.#onMerged();
  }

  async #mergeSeriesFiles(store: TableStore, inputs: readonly SeriesFile[]): Promise<void> {
    const file = await mergeSeriesFiles(store, inputs, this.#files);
    const publication = store.publication({ mergedSeries: { removed: inputs, file } });
    await this.#commits.commit(() => ({
      change: {
        addSegments: [],
        removeSegments: [],
        addSeriesFiles: [file],
        removeSeriesFiles: inputs.map(({ id }) => id),
      },
      publications: [publication],
    }));
  }
}
