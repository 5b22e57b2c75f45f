import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SeriesFile } from '@plinth/tsdb-model/segment.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { Pinned } from '../scan/pinned.js';
import { DuckDbSeriesTable } from '../series/duckdb-series-table.js';
import { SeriesIndex } from '../series/series-index.js';
import { TagNames } from '../series/tag-names.js';

/**
 * `count` series are stored, the newest of them in `file`; `undefined` if no series is new.
 */
export interface StoredSeries {
  readonly count: number;
  readonly file: SeriesFile | undefined;
}

/** `file` contains the series of the files in `removed`. */
export interface MergedSeriesFiles {
  readonly removed: readonly SeriesFile[];
  readonly file: SeriesFile;
}

/** A series file in use by this process. */
export interface OpenSeriesFile {
  readonly file: SeriesFile;
  readonly pinned: Pinned;
}

type ReadStored = (files: readonly SeriesFile[]) => Promise<void>;

/** The series of one table: in its files, in the index, and in DuckDB. */
export class TableSeriesState {
  readonly index: SeriesIndex;
  /** DuckDB's copy of the series. */
  readonly table: DuckDbSeriesTable;
  /** The first `storedCount` series are in `files`. */
  storedCount = 0;
  #files: readonly OpenSeriesFile[] = [];
  /** Retired when the table is removed permanently. */
  readonly pinned: Pinned;
  readonly #storage: SegmentFiles;
  readonly #onError: (error: unknown) => void;
  /** Reads the stored series; `undefined` if the index has them. */
  #readStored: ReadStored | undefined;
  #indexing: Promise<void> | undefined;

  constructor(options: {
    readonly schema: TableSchema;
    readonly duckDb: DuckDbHost;
    readonly files: SegmentFiles;
    readonly onError: (error: unknown) => void;
  }) {
    const { schema, duckDb, files, onError } = options;
    this.#storage = files;
    this.#onError = onError;
    this.index = new SeriesIndex(schema.seriesSeed);
    this.index.names = new TagNames(schema);
    const isInUse = (): boolean => this.pinned.isPinned;
    this.table = new DuckDbSeriesTable({ tableId: schema.id, duckDb, index: this.index, isInUse });
    this.pinned = new Pinned(() => {
      this.table.drop().catch(onError);
      for (const file of this.#files) file.pinned.retire();
    });
  }

  /** Leaves the stored series in their files until first use; `read` then fills the index. */
  indexLater(files: readonly SeriesFile[], read: ReadStored): void {
    this.#files = files.map((file) => this.#open(file));
    this.#readStored = read;
  }

  get files(): readonly OpenSeriesFile[] {
    return this.#files;
  }

  /**
   * Returns `undefined` if the index has all stored series. Otherwise returns a promise that
   * resolves when it has them; until then, the index must not be read or changed. After a failure,
   * the next call tries again.
   */
  whenIndexed(): Promise<void> | undefined {
    if (this.#readStored === undefined) return undefined;
    this.#indexing ??= this.#index(this.#readStored).finally(() => {
      this.#indexing = undefined;
    });
    return this.#indexing;
  }

  /** Resolves when reading the series has ended, successfully or not. */
  async indexingEnded(): Promise<void> {
    await this.#indexing?.catch(() => undefined); // queries that need the series receive the error
  }

  async #index(readStored: ReadStored): Promise<void> {
    if (!this.pinned.isRetired) {
      const files = this.#files; // a copy of the current list, because files may be merged in the meantime
      const pins = [this.pinned, ...files.map(({ pinned }) => pinned)];
      for (const pin of pins) pin.pin();
      try {
        await readStored(files.map(({ file }) => file));
      } finally {
        for (const pin of pins) pin.unpin();
      }
    }
    this.storedCount = this.index.count;
    this.#readStored = undefined;
  }

  /** Copies all series to DuckDB. They stay there while `pinned` is pinned. */
  async copyToDuckDb(schema: TableSchema): Promise<void> {
    await this.whenIndexed();
    await this.table.copyToDuckDb(schema);
  }

  /** Runs `work` while DuckDB has all series that exist at the call. */
  async withSeriesTable<T>(schema: TableSchema, work: () => Promise<T>): Promise<T> {
    this.pinned.pin();
    try {
      await this.copyToDuckDb(schema);
      return await work();
    } finally {
      this.pinned.unpin();
    }
  }

  /** Called when its file is registered. */
  noteStored({ count, file }: StoredSeries): void {
    this.storedCount = count;
    if (file !== undefined) this.#replaceFiles([], file);
  }

  /** Called when one file with the series of several is registered in their place. */
  noteMerged({ removed, file }: MergedSeriesFiles): void {
    this.#replaceFiles(removed, file);
  }

  #replaceFiles(removed: readonly SeriesFile[], added: SeriesFile): void {
    const ids = new Set(removed.map(({ id }) => id));
    const open = this.#open(added);
    const retired = this.#files.filter(({ file }) => ids.has(file.id));
    this.#files = [...this.#files.filter(({ file }) => !ids.has(file.id)), open];
    for (const { pinned } of retired) pinned.retire();
    // The table and its other files were removed during the registration.
    if (this.pinned.isDisposed) open.pinned.retire();
  }

  #open(file: SeriesFile): OpenSeriesFile {
    const dispose = (): void => {
      this.#storage.remove(file.objectName).catch(this.#onError);
    };
    return { file, pinned: new Pinned(dispose) };
  }
}
