import { Exclusive } from '@plinth/kernel';
import type { RowBatch } from '../../../model/columns/row-batch.js';
import type { ScanRequest } from '../../../model/scan.js';
import type { TableSchema } from '../../../model/schema.js';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import type { FileDamaged } from '../../../storage/segments/file-sums.js';
import type { Segment } from '../../../storage/segments/segment.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import type { TablePlaces } from '../../catalog/overview.js';
import type { ColumnCache } from '../columns/cache/column-cache.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { Source } from '../scan/sources.js';
import type { GenerationTable } from './generation-table.js';
import { Generations } from './generations.js';
import { prepareScan } from './prepare-scan.js';
import type { Publication } from './publication.js';
import { RepeatedPoints } from './repeated-points.js';
import { TableInMemory } from './table-in-memory.js';
import type { TableParts } from './table-parts.js';
import { type Looks, type OpenSegment, TableSegments } from './table-segments.js';
import { type MergedSeriesFiles, type StoredSeries, TableSeries } from './table-series.js';
import { TextSizes } from './text-sizes.js';
import { Tombstones } from './tombstones.js';

/** A file that a table is made of. */
export type StoredFile = Pick<Segment, 'objectName' | 'sizeBytes' | 'checksum'>;

/** What becomes of a table's rows and files; `added` takes the place of the others. */
export interface TableChange {
  /** Number of the generation whose rows are in files. */
  readonly flushed?: number;
  readonly removed?: readonly Segment[];
  readonly added?: readonly OpenSegment[];
  readonly newSeries?: StoredSeries;
  readonly mergedSeries?: MergedSeriesFiles;
}

/** Must not change the batch. It may keep it. */
export type RowObserver = (batch: RowBatch) => void;

/** Everything the node holds of one table: its series, unflushed generations, segments, and points written twice. */
export class TableStore {
  readonly tableId: number;
  /** Deletions of rows: every way of reading rows has to heed them. */
  readonly tombstones = new Tombstones();
  readonly series: TableSeries;
  readonly repeated: RepeatedPoints;
  readonly inMemory: TableInMemory;
  readonly #textSizes = new TextSizes();
  /** Its data are to go, or gone: nothing of it may be stored any more. */
  isGone = false;
  /** Nothing of it is registered any more. Until then a deletion that failed may be tried again after the next start. */
  #hasVanished = false;
  /** Newest picture of the table's columns. */
  schema: TableSchema;
  readonly #generations: Generations;
  readonly #segments: TableSegments;
  readonly #parts: TableParts;
  readonly #exclusive = new Exclusive();
  #observers: readonly RowObserver[] = [];

  constructor(options: {
    readonly schema: TableSchema;
    readonly host: DuckDbHost;
    readonly files: SegmentFiles;
    readonly known: Looks;
    readonly cache: ColumnCache;
    /** Hears once of each segment that is found damaged. */
    readonly onDamaged: (segment: Segment, error: FileDamaged) => void;
    readonly onError: (error: unknown) => void;
  }) {
    const { schema, host, files, known, cache, onDamaged, onError } = options;
    const tableId = schema.id;
    this.tableId = tableId;
    this.schema = schema;
    const { tombstones } = this;
    const series = new TableSeries({ schema, host, files, onError });
    const { index } = series;
    const generations = new Generations({ tableId, host, index, onDisposeFailed: onError });
    const segments = new TableSegments({ files, known, onDamaged, onError });
    const exclusive = this.#exclusive;
    const held = { tableId, host, segments, generations };
    const repeated = new RepeatedPoints({ ...held, exclusive, onError });
    this.series = series;
    this.#generations = generations;
    this.#segments = segments;
    this.repeated = repeated;
    const newest = (): TableSchema => this.schema;
    const textSizes = this.#textSizes;
    const stored = { series, generations, segments, repeated, tombstones, textSizes };
    this.#parts = { schema: newest, files, ...stored };
    this.inMemory = new TableInMemory({ parts: this.#parts, cache, host, onError });
  }

  get segments(): readonly OpenSegment[] {
    return this.#segments.list;
  }

  /** Tells of it, unless somebody has. */
  noteDamaged(error: FileDamaged): void {
    const open = this.#segments.list.find(({ segment }) => segment.objectName === error.objectName);
    if (open !== undefined) this.#segments.noteDamaged(open, error);
  }

  /** Unique sources among the segments that touch the time range, without the rows still in memory. */
  segmentSources(minTime: bigint, maxTime: bigint): readonly Source[] {
    return this.#segments.sourcesOf(this.#segments.touching(minTime, maxTime));
  }

  /** @returns by how much the rows have become more, in bytes. */
  append(generation: number, batch: RowBatch, seq: bigint): number {
    this.#textSizes.noteWritten(batch);
    const addedBytes = this.#generations.append(generation, batch, seq);
    for (const observe of this.#observers) observe(batch);
    return addedBytes;
  }

  /** Is told of every row that is written from now on, in order. Returns how to end it. */
  observe(observer: RowObserver): () => void {
    this.#observers = [...this.#observers, observer];
    return () => {
      this.#observers = this.#observers.filter((each) => each !== observer);
    };
  }

  /** Somebody may keep the batches that are appended. */
  get isObserved(): boolean {
    return this.#observers.length > 0;
  }

  /** Where rows are, by time, and the latest `seq` that a row there can have. */
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

  /** Where rows are, by file and, of those in memory, by time. */
  places(): TablePlaces {
    return {
      segments: this.#segments.list.map(({ segment }) => segment),
      buffered: this.#generations.list
        .flatMap(({ main, late }) => [main, late])
        .filter(({ rowCount }) => rowCount > 0),
    };
  }

  /** Smallest `seq` of the rows in memory; `undefined`: there are none. */
  get minBufferedSeq(): bigint | undefined {
    return this.#generations.minSeq;
  }

  /** Whether anything is stored between the two instants; rows in memory count as everywhere. */
  mayHoldRows(minTime: bigint, maxTime: bigint): boolean {
    return (
      this.#generations.list.some((table) => table.rowCount > 0) ||
      this.#segments.touching(minTime, maxTime).length > 0
    );
  }

  generation(number: number): GenerationTable | undefined {
    return this.#generations.find(number);
  }

  /** Takes over what the registry knows at the start of the node. */
  async open(segments: readonly Segment[]): Promise<void> {
    this.#segments.list = segments.map((segment) => this.#segments.open(segment));
    for (const open of this.#segments.list) {
      if (open.segment.kind === 'overlay') await this.repeated.rememberOverlaid(open);
    }
  }

  /** A segment that this process wrote itself: its bytes were just read back. */
  openVerified(segment: Segment): OpenSegment {
    return { ...this.#segments.open(segment), verified: Promise.resolve() };
  }

  /** How memory takes over a change that was committed: see `Publication`. */
  publication(change: TableChange): Publication {
    return {
      publish: () => this.#publish(change),
      alone: (work) => this.exclusive(work),
      tidy: () => this.#forgetMergedPoints(),
    };
  }

  #publish(change: TableChange): undefined {
    const { flushed, removed = [], added = [] } = change;
    const [segments, generations] = [this.#segments, this.#generations];
    if (change.newSeries !== undefined) this.series.noteStored(change.newSeries);
    if (change.mergedSeries !== undefined) this.series.noteMerged(change.mergedSeries);
    if (this.#hasVanished) {
      // What the engine had of it may be dropped already; only files are left to go.
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
    this.inMemory.retain();
  }

  /** Points that stand in one place only cost time as long as they count as repeated. */
  async #forgetMergedPoints(): Promise<void> {
    if (this.isGone) return;
    const overlays = this.#segments.list.filter(({ segment }) => segment.kind === 'overlay');
    await this.repeated.prune([
      ...overlays.flatMap((open) => this.#segments.sourcesOf([open])),
      ...this.#generations.list
        .filter((table) => table.checkedLateRows > 0)
        .map((table) => table.lateSource()),
    ]);
  }

  /** The table's data go, of which nothing is registered any more: files and memory are freed when the last query that reads them has ended. */
  async vanish(): Promise<void> {
    this.isGone = true;
    await this.exclusive(async () => {
      this.#hasVanished = true;
      this.#retireAll();
    });
  }

  /** Keeps the files that there are from being removed. `release` must be called once. */
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
    const held = [...this.#segments.list, ...this.#generations.list, this.repeated, this.series];
    for (const { pinned } of held) pinned.retire();
    this.#segments.list = [];
    this.#generations.list = [];
    this.inMemory.retain();
  }

  /** Forgets everything in memory; files stay. No query may be running. */
  async dispose(): Promise<void> {
    const generations = this.#generations.list;
    for (const table of generations) {
      await table.main.drop();
      await table.late.drop();
    }
    this.#generations.list = [];
    this.inMemory.forget();
    await this.repeated.keys.drop();
    await this.series.table.drop();
  }

  /** Runs `work` alone among all that changes which sources and duplicates there are. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#exclusive.run(work);
  }

  /** See `prepareScan`. */
  async prepareScan(
    request: ScanRequest,
    cutoffNs: bigint,
    signal?: AbortSignal,
  ): Promise<PreparedScan> {
    return await prepareScan(this.#parts, request, cutoffNs, signal);
  }
}
