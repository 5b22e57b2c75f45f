import { Exclusive } from '@plinth/kernel';
import type { TableStorage } from '@plinth/tsdb-catalog/overview.js';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { ColumnCache } from '../columns/cache/column-cache.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { Source } from '../scan/sources.js';
import { TagNames } from '../series/tag-names.js';
import type { GenerationTable } from './generation-table.js';
import { Generations } from './generations.js';
import type { PostCommitUpdate } from './post-commit-update.js';
import { prepareScan } from './prepare-scan.js';
import { RepeatedPoints } from './repeated-points.js';
import { TableColumnQueries } from './table-column-queries.js';
import type { TableComponents } from './table-components.js';
import { type OpenSegment, type SegmentVerifier, TableSegments } from './table-segments.js';
import {
  type MergedSeriesFiles,
  type StoredSeries,
  TableSeriesState,
} from './table-series-state.js';
import { TextSizes } from './text-sizes.js';
import { Tombstones } from './tombstones.js';

/** A file of a table. */
export type StoredFile = Pick<Segment, 'objectName' | 'sizeBytes' | 'checksum'>;

/** A change of a table's rows and files; `added` replaces the others. */
export interface TableChange {
  /** Number of the generation whose rows are now in files. */
  readonly flushed?: number;
  readonly removed?: readonly Segment[];
  readonly added?: readonly OpenSegment[];
  readonly storedSeries?: StoredSeries;
  readonly mergedSeries?: MergedSeriesFiles;
}

/** May retain the batch, but must not change it. */
export type RowObserver = (batch: RowBatch) => void;

/**
 * All in-process state of one table: its series, unflushed generations, segments, and points
 * written twice.
 */
export class TableStore {
  readonly tableId: number;
  /** Tombstones of hidden rows: every code path that reads rows must apply them. */
  readonly tombstones = new Tombstones();
  readonly series: TableSeriesState;
  readonly repeated: RepeatedPoints;
  /** Queries that do not need DuckDB. */
  readonly columnQueries: TableColumnQueries;
  readonly #textSizes = new TextSizes();
  /** True if the table's data is being removed, so no more of it may be stored. */
  isBeingRemoved = false;
  /**
   * True if none of the table's files is still registered. Until then, a failed deletion may be
   * retried after the next start.
   */
  #isUnregistered = false;
  #schema: TableSchema;
  readonly #generations: Generations;
  readonly #segments: TableSegments;
  readonly #components: TableComponents;
  readonly #exclusive = new Exclusive();
  #observers: readonly RowObserver[] = [];

  constructor(options: {
    readonly schema: TableSchema;
    readonly duckDb: DuckDbHost;
    readonly files: SegmentFiles;
    readonly verifier: SegmentVerifier;
    readonly cache: ColumnCache;
    /** Called once per damaged segment. */
    readonly onDamaged: (segment: Segment, error: FileDamaged) => void;
    readonly onError: (error: unknown) => void;
  }) {
    const { schema, duckDb, files, verifier, cache, onDamaged, onError } = options;
    const tableId = schema.id;
    this.tableId = tableId;
    this.#schema = schema;
    const { tombstones } = this;
    const series = new TableSeriesState({ schema, duckDb, files, onError });
    const { index } = series;
    const generations = new Generations({ tableId, duckDb, index, onDisposeFailed: onError });
    const segments = new TableSegments({ files, verifier, onDamaged, onError });
    const exclusive = this.#exclusive;
    const shared = { tableId, duckDb, segments, generations };
    const repeated = new RepeatedPoints({ ...shared, exclusive, onError });
    this.series = series;
    this.#generations = generations;
    this.#segments = segments;
    this.repeated = repeated;
    const newest = (): TableSchema => this.schema;
    const textSizes = this.#textSizes;
    const stored = { series, generations, segments, repeated, tombstones, textSizes };
    this.#components = { schema: newest, files, ...stored };
    this.columnQueries = new TableColumnQueries({
      components: this.#components,
      cache,
      duckDb,
      onError,
    });
  }

  /** Newest version of the table's schema. */
  get schema(): TableSchema {
    return this.#schema;
  }

  set schema(schema: TableSchema) {
    const isRenamed = schema.formerColumns !== this.#schema.formerColumns;
    this.#schema = schema;
    if (isRenamed) this.series.index.names = new TagNames(schema);
  }

  get segments(): readonly OpenSegment[] {
    return this.#segments.list;
  }

  /** Reports the damage, unless it was reported before. */
  noteDamaged(error: FileDamaged): void {
    const open = this.#segments.list.find(({ segment }) => segment.objectName === error.objectName);
    if (open !== undefined) this.#segments.noteDamaged(open, error);
  }

  /**
   * Returns the unique sources among the segments that overlap the time range, without the rows
   * still in memory.
   */
  segmentSources(minTime: bigint, maxTime: bigint): readonly Source[] {
    return this.#segments.sourcesOf(this.#segments.touching(minTime, maxTime));
  }

  /**
   * Adds the rows of one write.
   * @param seq the sequence number of the write; for a point written twice, the higher one applies.
   * @returns the growth in bytes.
   */
  append(generation: number, batch: RowBatch, seq: bigint): number {
    this.#textSizes.noteWritten(batch);
    const addedBytes = this.#generations.append(generation, batch, seq);
    for (const observe of this.#observers) observe(batch);
    return addedBytes;
  }

  /**
   * Calls `observer` for every row written from now on, in order. Returns the function that stops
   * it.
   */
  observe(observer: RowObserver): () => void {
    this.#observers = [...this.#observers, observer];
    return () => {
      this.#observers = this.#observers.filter((each) => each !== observer);
    };
  }

  /** True if an observer may keep the appended batches. */
  get isObserved(): boolean {
    return this.#observers.length > 0;
  }

  /** Returns the time ranges that contain rows, with the greatest `seq` possible there. */
  rowsArrived(): readonly {
    readonly minTime: bigint;
    readonly maxTime: bigint;
    readonly maxSeq: bigint;
  }[] {
    return [
      ...this.#generations.list.flatMap(({ main, late, maxSeq }) =>
        [main, late].map(({ minTime, maxTime }) => ({ minTime, maxTime, maxSeq })),
      ),
      ...this.#segments.list.map(({ segment }) => segment),
    ];
  }

  /** Returns the table's rows by file, and the unflushed ones by time. */
  storage(): TableStorage {
    return {
      segments: this.#segments.list.map(({ segment }) => segment),
      buffered: this.#generations.list
        .flatMap(({ main, late }) => [main, late])
        .filter(({ rowCount }) => rowCount > 0),
    };
  }

  /** Smallest `seq` of the unflushed rows; `undefined` if there are none. */
  get minBufferedSeq(): bigint | undefined {
    return this.#generations.minSeq;
  }

  /**
   * Whether rows may be stored between the two timestamps; unflushed rows count for any time range.
   */
  mayContainRows(minTime: bigint, maxTime: bigint): boolean {
    return (
      this.#generations.list.some((table) => table.rowCount > 0) ||
      this.#segments.touching(minTime, maxTime).length > 0
    );
  }

  generation(number: number): GenerationTable | undefined {
    return this.#generations.find(number);
  }

  /** Opens the registered segments at startup. */
  async open(segments: readonly Segment[]): Promise<void> {
    this.#segments.list = segments.map((segment) => this.#segments.open(segment));
    for (const open of this.#segments.list) {
      // Overlays contain points that replace points in older segments.
      if (open.segment.kind === 'overlay') await this.repeated.rememberOverlaid(open);
    }
  }

  /** Opens a segment that this process wrote: its bytes were just read back. */
  openVerified(segment: Segment): OpenSegment {
    return { ...this.#segments.open(segment), verified: Promise.resolve() };
  }

  /** Returns the functions that apply `change` to this table after its commit. */
  postCommitUpdate(change: TableChange): PostCommitUpdate {
    return {
      apply: () => this.#applyChange(change),
      runExclusively: (work) => this.exclusive(work),
      cleanUp: () => this.#forgetMergedPoints(),
    };
  }

  #applyChange(change: TableChange): undefined {
    const { flushed, removed = [], added = [] } = change;
    const [segments, generations] = [this.#segments, this.#generations];
    if (change.storedSeries !== undefined) this.series.noteStored(change.storedSeries);
    if (change.mergedSeries !== undefined) this.series.noteMerged(change.mergedSeries);
    if (this.#isUnregistered) {
      // The DuckDB tables may be dropped already; only files remain to be removed.
      segments.list = [...segments.list, ...added];
      this.#retireAll();
      return;
    }
    const removedIds = new Set(removed.map((segment) => segment.id));
    const isRemoved = ({ segment }: OpenSegment): boolean => removedIds.has(segment.id);
    const isFlushed = (table: GenerationTable): boolean => table.generation === flushed;
    const retired = [...segments.list.filter(isRemoved), ...generations.list.filter(isFlushed)];
    segments.list = [...segments.list.filter((open) => !isRemoved(open)), ...added];
    generations.list = generations.list.filter((table) => !isFlushed(table));
    for (const { pinned } of retired) pinned.retire();
    this.columnQueries.evictGone();
  }

  /** Drops the keys of points that are now stored once, because they slow down queries. */
  async #forgetMergedPoints(): Promise<void> {
    if (this.isBeingRemoved) return;
    const overlays = this.#segments.list.filter(({ segment }) => segment.kind === 'overlay');
    await this.repeated.prune([
      ...overlays.flatMap((open) => this.#segments.sourcesOf([open])),
      ...this.#generations.list
        .filter((table) => table.checkedLateRows > 0)
        .map((table) => table.lateSource()),
    ]);
  }

  /**
   * Removes the data of an unregistered table. Files and memory are freed when the
   * last query that reads them has ended.
   */
  async removeUnregistered(): Promise<void> {
    this.isBeingRemoved = true;
    await this.exclusive(async () => {
      this.#isUnregistered = true;
      this.#retireAll();
    });
  }

  /** Prevents the removal of the current files. Call `release` exactly once. */
  pinFiles(): { readonly files: readonly StoredFile[]; release(): void } {
    const segments = this.#segments.list;
    const seriesFiles = this.series.files;
    const pins = [...segments, ...seriesFiles].map(({ pinned }) => pinned);
    for (const pin of pins) pin.pin();
    return {
      files: [...segments.map((open) => open.segment), ...seriesFiles.map(({ file }) => file)],
      release() {
        for (const pin of pins) pin.unpin();
      },
    };
  }

  #retireAll(): void {
    const allPinned = [
      ...this.#segments.list,
      ...this.#generations.list,
      this.repeated,
      this.series,
    ];
    for (const { pinned } of allPinned) pinned.retire();
    this.#segments.list = [];
    this.#generations.list = [];
    this.columnQueries.evictGone();
  }

  /** Releases everything in memory; files stay. No query may be running. */
  async dispose(): Promise<void> {
    const generations = this.#generations.list;
    for (const table of generations) {
      await table.main.drop();
      await table.late.drop();
    }
    this.#generations.list = [];
    this.columnQueries.evictAll();
    await this.repeated.keys.drop();
    await this.series.table.drop();
  }

  /** Runs `work` exclusively, while no other change of sources and repeated points runs. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#exclusive.run(work);
  }

  /** See `prepareScan`. */
  async prepareScan(
    request: ScanRequest,
    visibleFromNs: bigint,
    signal?: AbortSignal,
  ): Promise<PreparedScan> {
    return await prepareScan(this.#components, request, visibleFromNs, signal);
  }
}
