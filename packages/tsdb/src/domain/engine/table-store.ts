import type { Column } from '../../model/column.js';
import type { DirectRequest } from '../../model/direct-request.js';
import type { ResultChunk } from '../../model/result.js';
import type { RowBatch } from '../../model/row-batch.js';
import type { ScanRequest } from '../../model/scan.js';
import type { TableSchema } from '../../model/schema.js';
import type { DuckDbHost } from '../../storage/duckdb/duckdb-host.js';
import type { Segment, SeriesFile } from '../../storage/segments/segment.js';
import { FileDamaged, type SegmentFiles } from '../../storage/segments/segment-files.js';
import { isDirectKind } from './direct/cached-rows.js';
import type { ColumnCache } from './direct/column-cache.js';
import { answerDirectly, fieldsOf } from './direct/direct-path.js';
import { type RowSource, TableColumns } from './direct/table-columns.js';
import { DuplicateKeys } from './duplicate-keys.js';
import { GenerationTable } from './generation-table.js';
import { Pinned } from './pinned.js';
import { scanText } from './scan-text.js';
import { segmentSource, segmentSources } from './segment-sources.js';
import { selectSeries } from './select-series.js';
import { SeriesIndex } from './series-index.js';
import { SeriesTable } from './series-table.js';
import { numberedParquetFrom, type Source } from './sources.js';
import type { TimeSlice, TimeSpan } from './time-slices.js';
import { survivesText, type Tombstone, Tombstones, tombstonesOfSegment } from './tombstones.js';

/** A segment in use by this process. */
export interface OpenSegment {
  readonly segment: Segment;
  readonly pinned: Pinned;
  /** Set once the file's checksum was found right. */
  verified: Promise<void> | undefined;
  /** That the file is damaged is told once, not with every query. */
  isReported: boolean;
}

/** A file that a table is made of. */
export type StoredFile = Pick<Segment, 'objectName' | 'sizeBytes' | 'checksum'>;

/** Must not change the batch. It may keep it. */
export type RowObserver = (batch: RowBatch) => void;

/** A scan that can be asked about a stretch of its time at once. */
export interface ScanParts {
  readonly bounds: TimeSlice;
  /** Where its rows are; conditions other than those on tags are left out of account. */
  readonly spans: readonly TimeSpan[];
  /** @param passedTags see `ScanTextOptions`. */
  textOf(slice: TimeSlice, passedTags: readonly string[]): string;
}

export interface PreparedScan {
  readonly text: string;
  /** Files that it reads. */
  readonly segments: readonly Segment[];
  /** The same scan in parts; absent where there are none. */
  readonly parts?: ScanParts;
  /** Must be called once when the query has ended. */
  release(): void;
}

/** Everything the node holds of one table: its series, unflushed generations, segments, and points written twice. */
export class TableStore {
  readonly tableId: number;
  readonly index: SeriesIndex;
  readonly seriesTable: SeriesTable;
  /** Deletions of rows: every way of reading rows has to heed them. */
  readonly tombstones = new Tombstones();
  /** Its data are to go, or gone: nothing of it may be stored any more. */
  isGone = false;
  /** Newest picture of the table's columns. */
  schema: TableSchema;
  /** Series up to this number are in `seriesFiles`. */
  storedSeries = 0;
  seriesFiles: readonly SeriesFile[] = [];
  readonly #host: DuckDbHost;
  readonly #files: SegmentFiles;
  readonly #onError: (error: unknown) => void;
  readonly #columns: TableColumns;
  /** Oldest first; the last takes the writes. */
  #generations: readonly { readonly number: number; readonly table: GenerationTable }[] = [];
  #segments: readonly OpenSegment[] = [];
  #duplicates: DuplicateKeys;
  #duplicatesPinned: Pinned;
  #duplicatesCount = 0;
  #lockTail: Promise<unknown> = Promise.resolve();
  #observers: readonly RowObserver[] = [];
  /** Reads the stored series; `undefined`: the index has them. */
  #readSeries: (() => Promise<void>) | undefined;
  #indexing: Promise<void> | undefined;
  /** What every query of the table reads. */
  readonly #wholePinned: Pinned;

  constructor(options: {
    readonly schema: TableSchema;
    readonly host: DuckDbHost;
    readonly files: SegmentFiles;
    readonly cache: ColumnCache;
    readonly onError: (error: unknown) => void;
  }) {
    this.tableId = options.schema.id;
    this.schema = options.schema;
    this.#host = options.host;
    this.#files = options.files;
    this.#onError = options.onError;
    this.index = new SeriesIndex(options.schema.seriesSeed);
    this.seriesTable = new SeriesTable({
      tableId: this.tableId,
      host: this.#host,
      index: this.index,
    });
    this.#columns = new TableColumns({
      cache: options.cache,
      host: this.#host,
      index: this.index,
      onError: this.#onError,
    });
    this.#duplicates = new DuplicateKeys({ name: this.#nextDuplicatesName(), host: this.#host });
    this.#duplicatesPinned = this.#pinnedDuplicates(this.#duplicates);
    this.#wholePinned = new Pinned(() => {
      this.seriesTable.drop().catch(this.#onError);
      if (!this.isGone) return;
      for (const { objectName } of this.seriesFiles) {
        this.#files.remove(objectName).catch(this.#onError);
      }
    });
  }

  /** The stored series are left in their files until somebody needs them; `read` fills the index. */
  indexLater(read: () => Promise<void>): void {
    this.#readSeries = read;
  }

  /**
   * `undefined`: the index has all series that are stored. A promise: it will have them; until then nothing may be looked up
   * in it or added to it. After a failure the next call tries again.
   */
  whenIndexed(): Promise<void> | undefined {
    if (this.#readSeries === undefined) return undefined;
    this.#indexing ??= this.#readStoredSeries(this.#readSeries).finally(() => {
      this.#indexing = undefined;
    });
    return this.#indexing;
  }

  /** Resolves when the series are not being read any more, whatever came of it. */
  async indexingEnded(): Promise<void> {
    await this.#indexing?.catch(() => undefined); // Whoever waits for the series is told.
  }

  async #readStoredSeries(read: () => Promise<void>): Promise<void> {
    if (!this.isGone) {
      const { release } = this.pinFiles();
      try {
        await read();
      } finally {
        release();
      }
    }
    this.storedSeries = this.index.count;
    this.#readSeries = undefined;
  }

  /** Brings all series into the engine. */
  async handOverSeries(): Promise<void> {
    await this.whenIndexed();
    await this.seriesTable.handOver(this.schema);
  }

  get segments(): readonly OpenSegment[] {
    return this.#segments;
  }

  get duplicates(): DuplicateKeys {
    return this.#duplicates;
  }

  /** Unique sources among the segments that touch the time range, without the rows still in memory. */
  segmentSources(minTime: bigint, maxTime: bigint): readonly Source[] {
    return segmentSources(
      this.#files,
      this.#segments
        .map((open) => open.segment)
        .filter((segment) => segment.minTime <= maxTime && segment.maxTime >= minTime),
    );
  }

  append(generation: number, batch: RowBatch, seq: bigint): void {
    const last = this.#generations.at(-1);
    let table = last?.number === generation ? last.table : undefined;
    if (table === undefined) {
      table = new GenerationTable({
        generation,
        tableId: this.tableId,
        host: this.#host,
        index: this.index,
        onDisposeFailed: this.#onError,
      });
      this.#generations = [...this.#generations, { number: generation, table }];
    }
    table.append(batch, seq);
    for (const observe of this.#observers) observe(batch);
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
  arrivals(): readonly {
    readonly minTime: bigint;
    readonly maxTime: bigint;
    readonly maxSeq: bigint;
  }[] {
    return [
      ...this.#generations.flatMap(({ table: { main, late, maxSeq } }) =>
        [main, late].map(({ minTime, maxTime }) => ({ minTime, maxTime, maxSeq })),
      ),
      ...this.#segments.map(({ segment }) => segment),
    ];
  }

  /** Smallest `seq` of the rows in memory; `undefined`: there are none. */
  get minBufferedSeq(): bigint | undefined {
    return this.#generations.reduce<bigint | undefined>(
      (min, { table }) => (min === undefined || table.minSeq < min ? table.minSeq : min),
      undefined,
    );
  }

  /** Whether anything is stored between the two instants; rows in memory count as everywhere. */
  mayHoldRows(minTime: bigint, maxTime: bigint): boolean {
    return (
      this.#generations.some(({ table }) => table.rowCount > 0) ||
      this.#segments.some(({ segment }) => segment.minTime <= maxTime && segment.maxTime >= minTime)
    );
  }

  generation(number: number): GenerationTable | undefined {
    return this.#generations.find((entry) => entry.number === number)?.table;
  }

  /** Takes over what the registry knows at the start of the node. */
  async open(segments: readonly Segment[]): Promise<void> {
    this.#segments = segments.map((segment) => this.openSegment(segment));
    for (const open of this.#segments) {
      if (open.segment.kind === 'overlay') await this.#rememberOverlaid(open);
    }
  }

  /** A segment that this process wrote itself: its bytes were just read back. */
  openVerified(segment: Segment): OpenSegment {
    return { ...this.openSegment(segment), verified: Promise.resolve() };
  }

  openSegment(segment: Segment): OpenSegment {
    return {
      segment,
      verified: undefined,
      isReported: false,
      pinned: new Pinned(() => {
        this.#files.remove(segment.objectName).catch(this.#onError);
      }),
    };
  }

  /** A registered file; `count` series are stored from here on. */
  noteStoredSeries(count: number, file: SeriesFile | undefined): void {
    this.storedSeries = count;
    if (file === undefined) return;
    this.seriesFiles = [...this.seriesFiles, file];
    // The table went while this was registered, and the other files with it.
    if (this.#wholePinned.isDisposed) this.#files.remove(file.objectName).catch(this.#onError);
  }

  /** Puts `added` in place of a flushed generation and of `removed` segments, between two queries. */
  async replace(change: {
    readonly flushed: number | undefined;
    readonly removed: readonly Segment[];
    readonly added: readonly OpenSegment[];
  }): Promise<void> {
    await this.exclusive(async () => {
      if (this.isGone) {
        // What the engine had of it may be dropped already; only files are left to go.
        this.#segments = [...this.#segments, ...change.added];
        this.#retireAll();
        return;
      }
      const gone = new Set(change.removed.map((segment) => segment.id));
      const segments = [
        ...this.#segments.filter((open) => !gone.has(open.segment.id)),
        ...change.added,
      ];
      const generations = this.#generations.filter((entry) => entry.number !== change.flushed);
      const later = [
        ...segments
          .filter((open) => open.segment.kind === 'overlay')
          .map((open) => segmentSource(this.#files, [open.segment])),
        ...generations
          .filter(({ table }) => table.checkedLateRows > 0)
          .map(({ table }) => table.lateSource()),
      ];
      const duplicates = await this.#duplicates.pruned(this.#nextDuplicatesName(), later);
      const retired = [
        ...this.#segments.filter((open) => gone.has(open.segment.id)).map((open) => open.pinned),
        ...this.#generations
          .filter((entry) => entry.number === change.flushed)
          .map(({ table }) => table.pinned),
        this.#duplicatesPinned,
      ];
      this.#segments = segments;
      // Taken again: a write may have begun a generation meanwhile.
      this.#generations = this.#generations.filter((entry) => entry.number !== change.flushed);
      this.#duplicates = duplicates;
      this.#duplicatesPinned = this.#pinnedDuplicates(duplicates);
      for (const pinned of retired) pinned.retire();
      this.#columns.retain(
        new Set<object>([
          ...this.#segments,
          ...this.#generations.flatMap(({ table }) => [table.main, table.late]),
        ]),
      );
      if (this.isGone) this.#retireAll();
    });
  }

  /** The table's data go: files and memory are freed when the last query that reads them has ended. */
  async vanish(): Promise<void> {
    this.isGone = true;
    await this.exclusive(async () => this.#retireAll());
  }

  /** Keeps the files that there are from being removed. `release` must be called once. */
  pinFiles(): { readonly files: readonly StoredFile[]; release(): void } {
    const segments = this.#segments;
    const pins = [...segments.map((open) => open.pinned), this.#wholePinned];
    for (const pin of pins) pin.pin();
    return {
      files: [...segments.map((open) => open.segment), ...this.seriesFiles],
      release() {
        for (const pin of pins) pin.unpin();
      },
    };
  }

  #retireAll(): void {
    for (const { pinned } of this.#segments) pinned.retire();
    for (const { table } of this.#generations) table.pinned.retire();
    this.#duplicatesPinned.retire();
    this.#wholePinned.retire();
    this.#segments = [];
    this.#generations = [];
    this.#columns.retain(new Set());
  }

  /** Forgets everything in memory; files stay. No query may be running. */
  async dispose(): Promise<void> {
    for (const { table } of this.#generations) {
      await table.main.drop();
      await table.late.drop();
    }
    this.#generations = [];
    this.#columns.retain(new Set());
    await this.#duplicates.drop();
    await this.seriesTable.drop();
  }

  /** Runs `work` alone among all that changes which sources and duplicates there are. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lockTail.then(work);
    this.#lockTail = result.catch(() => undefined); // The caller sees the failure; the next in line must not.
    return result;
  }

  /** Makes everything written before the call readable and says how to read it. */
  async prepareScan(request: ScanRequest, cutoffNs: bigint): Promise<PreparedScan> {
    const minTime = request.minTimeNs > cutoffNs ? request.minTimeNs : cutoffNs;
    const maxTime = request.maxTimeNs;
    await this.checkLateRows();
    // Taken together, without a wait in between: late rows that are checked later belong to later duplicates.
    const generations = this.#generations
      .filter(({ table }) => table.rowCount > 0)
      .map(({ table }) => ({ table, checkedLateRows: table.checkedLateRows }));
    const segments = this.#segments.filter(
      ({ segment }) => segment.minTime <= maxTime && segment.maxTime >= minTime,
    );
    const duplicates = this.#duplicates;
    const tombstones = this.tombstones.touches(minTime, maxTime) ? this.tombstones.all : [];
    const pins = [
      ...generations.map(({ table }) => table.pinned),
      ...segments.map((s) => s.pinned),
      this.#duplicatesPinned,
      this.#wholePinned,
    ];
    for (const pin of pins) pin.pin();
    const release = (): void => {
      for (const pin of pins) pin.unpin();
    };
    try {
      for (const { table } of generations) await table.main.handOver();
      // A scan without tags does not wait for the series, which may still be in their files.
      if (tombstones.length > 0 || readsTags(request)) await this.handOverSeries();
      await Promise.all(segments.map((open) => this.#verify(open)));
      // The parts of a query see one picture of the tables: what is added to them meanwhile does not exist for it.
      const columns = request.columns.flatMap((name) => request.table.columns.get(name) ?? []);
      const tagNames = new Map(columns.map(({ name }) => [name, this.seriesTable.columnOf(name)]));
      const seriesTable = {
        name: this.seriesTable.name,
        columnOf: (tag: string): string | undefined => tagNames.get(tag),
      };
      const buffers = bufferSources(generations).map((source) => {
        const present = new Set(columns.flatMap(({ id }) => (source.hasColumn(id) ? [id] : [])));
        return {
          ...this.#surviving(source, tombstones),
          hasColumn: (id: number) => present.has(id),
        };
      });
      const { share, ...selected } = selectSeries(this.index, request.tagConditions);
      const textOf = (slice: TimeSlice, isPart: boolean, passedTags: readonly string[]): string => {
        const touches = (source: TimeSlice): boolean =>
          source.minTime <= slice.maxTime && source.maxTime >= slice.minTime;
        const files = segments.map((open) => open.segment).filter(touches);
        const sources = [
          ...segmentSources(this.#files, files, (segment) =>
            this.#survives(tombstonesOfSegment(tombstones, segment), 'whole'),
          ),
          ...buffers.filter(touches),
        ];
        return scanText({
          schema: request.table,
          columns: request.columns,
          sources,
          ...slice,
          isPart,
          ...selected,
          seriesTable,
          passedTags,
          duplicates: duplicates.touches(slice.minTime, slice.maxTime)
            ? duplicates.name
            : undefined,
          lastRowsOnly: request.lastRowsOnly,
        });
      };
      const spans = [
        ...segments.map(({ segment }) => segment),
        ...generations.flatMap(({ table: { main, late } }) => [main, late]),
      ].map(({ minTime, maxTime, rowCount }) => ({ minTime, maxTime, rowCount: rowCount * share }));
      const bounds = { minTime, maxTime };
      return {
        text: textOf(bounds, false, []),
        segments: segments.map((open) => open.segment),
        parts: {
          bounds,
          spans: spans.filter(({ rowCount }) => rowCount > 0),
          textOf: (slice, passedTags) => textOf(slice, true, passedTags),
        },
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  #survives(tombstones: readonly Tombstone[], rows: 'whole' | 'seqs'): string | undefined {
    if (tombstones.length === 0) return undefined;
    return survivesText(tombstones, this, rows);
  }

  /** Rows in memory without those that were deleted. */
  #surviving(source: Source, tombstones: readonly Tombstone[]): Source {
    const survives = this.#survives(tombstones, 'seqs');
    if (survives === undefined) return source;
    const { where } = source;
    return { ...source, where: where === undefined ? survives : `${where} AND ${survives}` };
  }

  /**
   * Answers from rows in memory, as they are once everything written before the call is readable; `undefined`: the engine
   * has to.
   */
  async answerDirectly(
    request: DirectRequest,
    cutoffNs: bigint,
  ): Promise<Iterable<ResultChunk> | undefined> {
    const columns = fieldsOf(request);
    if (!this.#columns.isEnabled || columns === undefined) return undefined;
    const indexing = this.whenIndexed();
    if (indexing !== undefined) {
      // The engine answers as soon, and waits for the series itself where it needs them.
      indexing.catch(() => undefined); // Whoever needs the series is told.
      return undefined;
    }
    const minTimeNs = request.minTimeNs > cutoffNs ? request.minTimeNs : cutoffNs;
    const { maxTimeNs } = request;
    for (let isAwaited = false; ; isAwaited = true) {
      await this.checkLateRows();
      // Points written twice are merged, and deleted rows left out, by the engine alone.
      if (this.#duplicates.touches(minTimeNs, maxTimeNs)) return undefined;
      if (this.tombstones.touches(minTimeNs, maxTimeNs)) return undefined;
      const sources = this.#rowSources(minTimeNs, maxTimeNs);
      const found = this.#columns.find(sources, { columns, minTimeNs, maxTimeNs });
      if (found === undefined) return undefined;
      if (!(found instanceof Promise))
        return await answerDirectly({ ...request, minTimeNs }, found, {
          index: this.index,
          texts: this.#columns.texts,
        });
      if (isAwaited) return undefined;
      await found;
    }
  }

  /** Loads the columns of a segment ahead of queries. False: it takes more than `limitBytes` with all that is loaded. */
  async preload(open: OpenSegment, limitBytes: number, signal: AbortSignal): Promise<boolean> {
    // Overlays hold points written twice, which the engine merges; deleted rows are left out by it.
    const { kind, minTime, maxTime } = open.segment;
    if (kind === 'overlay' || !this.#segments.includes(open)) return true;
    if (this.tombstones.touches(minTime, maxTime)) return true;
    await this.whenIndexed();
    return await this.#columns.preload(this.#segmentRows(open), this.#directColumns, {
      limitBytes,
      signal,
    });
  }

  /** Whether the rows that wait for a flush are worth being sorted for queries. */
  get isScattered(): boolean {
    const source = this.#gatherable();
    return source !== undefined && this.#columns.isScattered(source);
  }

  /** Sorts the rows that wait for a flush as a whole, in memory, when that takes no more than `limitBytes` with all else. */
  async gather(limitBytes: number, signal: AbortSignal): Promise<void> {
    await this.#generations.at(-1)?.table.main.handOver();
    const source = this.#gatherable();
    if (source !== undefined)
      await this.#columns.gather(source, this.#directColumns, { limitBytes, signal });
  }

  /** Rows of the generation that takes the writes; late ones are few. */
  #gatherable(): RowSource | undefined {
    const last = this.#generations.at(-1);
    return last === undefined ? undefined : this.#bufferRows(last.table)[0];
  }

  get #directColumns(): readonly Column[] {
    return [...this.schema.columns.values()].filter(({ kind }) => isDirectKind(kind));
  }

  /** All rows between two instants that queries may see, taken together without a wait in between. */
  #rowSources(minTime: bigint, maxTime: bigint): RowSource[] {
    const segments = this.#segments
      .filter(({ segment }) => segment.minTime <= maxTime && segment.maxTime >= minTime)
      .map((open) => this.#segmentRows(open));
    const buffers = this.#generations.flatMap(({ table }) => this.#bufferRows(table));
    return [
      ...segments,
      ...buffers.filter((source) => source.minTime <= maxTime && source.maxTime >= minTime),
    ];
  }

  /** Those of `main` first. */
  #bufferRows(table: GenerationTable): RowSource[] {
    const hold = async (): Promise<() => void> => {
      table.pinned.pin();
      return () => table.pinned.unpin();
    };
    const { main, late, checkedLateRows } = table;
    const both = { kind: 'buffer', rowNumber: 'rowid', hold } as const;
    const sources: RowSource[] = [];
    if (main.rowCount > 0) {
      const { engineRows: rowCount, blocks } = main;
      sources.push({ ...table.mainSource(), ...both, key: main, rowCount, blocks });
    }
    if (checkedLateRows > 0) {
      const rows = { key: late, rowCount: checkedLateRows, blocks: [] };
      sources.push({ ...table.lateSource(), ...both, ...rows });
    }
    return sources;
  }

  #segmentRows(open: OpenSegment): RowSource {
    const { rowCount, objectName, columnIds, minTime, maxTime } = open.segment;
    return {
      key: open,
      kind: 'segment',
      from: numberedParquetFrom(this.#files.pathOf(objectName)),
      rowNumber: 'file_row_number',
      rowCount,
      blocks: [],
      minTime,
      maxTime,
      hasColumn: (id) => columnIds.has(id),
      hold: async () => {
        open.pinned.pin();
        const letGo = (): void => open.pinned.unpin();
        await this.#verify(open).catch((error: unknown) => {
          letGo();
          throw error;
        });
        return letGo;
      },
    };
  }

  /** Finds the points among newly written late rows that were written before; after it, queries may see those rows. */
  async checkLateRows(): Promise<void> {
    if (this.#generations.every(({ table }) => table.checkedLateRows === table.late.rowCount))
      return;
    await this.exclusive(async () => {
      for (const { table } of this.#generations) {
        if (table.checkedLateRows < table.late.rowCount) await this.#checkGeneration(table);
      }
    });
  }

  async #checkGeneration(table: GenerationTable): Promise<void> {
    const from = table.checkedLateRows;
    const to = table.late.rowCount;
    // Rows that come later are compared when they are checked themselves; a generation that begins now has no tables yet.
    const generations = this.#generations.map((entry) => ({
      table: entry.table,
      checkedLateRows: entry.table.checkedLateRows,
    }));
    await table.late.handOver();
    for (const { table: each } of generations) await each.main.handOver();
    const { minTime, maxTime } = table.late;
    const touched = this.#segments.filter(
      ({ segment }) => segment.minTime <= maxTime && segment.maxTime >= minTime,
    );
    await Promise.all(touched.map((open) => this.#verify(open)));
    const fresh = `(SELECT _series, "time" FROM ${table.lateSource().from} WHERE rowid >= ${from} AND rowid < ${to})`;
    const others = [
      ...segmentSources(
        this.#files,
        touched.map((open) => open.segment),
      ),
      ...bufferSources(generations),
    ];
    await this.#duplicates.find({ fresh, minTime, maxTime, others });
    table.checkedLateRows = to;
  }

  async #rememberOverlaid(open: OpenSegment): Promise<void> {
    try {
      await this.#verify(open);
    } catch (error) {
      if (!(error instanceof FileDamaged)) throw error;
      // For good: when the file is restored, its points are still unknown until the next start.
      open.verified = Promise.reject(error);
      open.verified.catch(() => undefined); // Every query that needs the segment sees it.
      return;
    }
    await this.#duplicates.addAll(segmentSource(this.#files, [open.segment]));
  }

  #verify(open: OpenSegment): Promise<void> {
    open.verified ??= this.#files.verify(open.segment).catch((error: unknown) => {
      if (!open.isReported) this.#onError(error);
      open.isReported = true;
      open.verified = undefined; // The next query looks again: the file may have been restored.
      throw error;
    });
    return open.verified;
  }

  #nextDuplicatesName(): string {
    return `duplicates_${this.tableId}_${this.#duplicatesCount++}`;
  }

  #pinnedDuplicates(duplicates: DuplicateKeys): Pinned {
    return new Pinned(() => {
      duplicates.drop().catch(this.#onError);
    });
  }
}

const readsTags = ({ columns, table, tagConditions }: ScanRequest): boolean =>
  tagConditions.length > 0 || columns.some((name) => table.columns.get(name)?.kind === 'tag');

function bufferSources(
  generations: readonly { readonly table: GenerationTable; readonly checkedLateRows: number }[],
): Source[] {
  return generations.flatMap(({ table, checkedLateRows }) => [
    ...(table.main.rowCount > 0 ? [table.mainSource()] : []),
    ...(checkedLateRows > 0 ? [table.lateSource(checkedLateRows)] : []),
  ]);
}
