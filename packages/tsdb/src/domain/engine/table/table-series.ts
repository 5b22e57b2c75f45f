import type { TableSchema } from '../../../model/schema.js';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import type { SeriesFile } from '../../../storage/segments/segment.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import { Pinned } from '../scan/pinned.js';
import { SeriesIndex } from '../series/series-index.js';
import { SeriesTable } from '../series/series-table.js';

/** `count` series are stored, the latest of them in `file`; `undefined`: none of them is new. */
export interface StoredSeries {
  readonly count: number;
  readonly file: SeriesFile | undefined;
}

/** `file` holds the series of the files `removed`. */
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

/** The series of one table: in its files, in the index, and in the engine. */
export class TableSeries {
  readonly index: SeriesIndex;
  /** In the engine. */
  readonly table: SeriesTable;
  /** Series up to this number are in `files`. */
  storedCount = 0;
  #files: readonly OpenSeriesFile[] = [];
  /** Retired when the table goes for good. */
  readonly pinned: Pinned;
  readonly #storage: SegmentFiles;
  readonly #onError: (error: unknown) => void;
  /** Reads the stored series; `undefined`: the index has them. */
  #readStored: ReadStored | undefined;
  #indexing: Promise<void> | undefined;

  constructor(options: {
    readonly schema: TableSchema;
    readonly host: DuckDbHost;
    readonly files: SegmentFiles;
    readonly onError: (error: unknown) => void;
  }) {
    const { schema, host, files, onError } = options;
    this.#storage = files;
    this.#onError = onError;
    this.index = new SeriesIndex(schema.seriesSeed);
    const isInUse = (): boolean => this.pinned.isPinned;
    this.table = new SeriesTable({ tableId: schema.id, host, index: this.index, isInUse });
    this.pinned = new Pinned(() => {
      this.table.drop().catch(onError);
      for (const file of this.#files) file.pinned.retire();
    });
  }

  /** The stored series are left in their files until somebody needs them; `read` fills the index. */
  indexLater(files: readonly SeriesFile[], read: ReadStored): void {
    this.#files = files.map((file) => this.#open(file));
    this.#readStored = read;
  }

  get files(): readonly OpenSeriesFile[] {
    return this.#files;
  }

  /**
   * `undefined`: the index has all series that are stored. A promise: it will have them; until then nothing may be looked up
   * in it or added to it. After a failure the next call tries again.
   */
  whenIndexed(): Promise<void> | undefined {
    if (this.#readStored === undefined) return undefined;
    this.#indexing ??= this.#index(this.#readStored).finally(() => {
      this.#indexing = undefined;
    });
    return this.#indexing;
  }

  /** Resolves when the series are not being read any more, whatever came of it. */
  async indexingEnded(): Promise<void> {
    await this.#indexing?.catch(() => undefined); // Whoever waits for the series is told.
  }

  async #index(readStored: ReadStored): Promise<void> {
    if (!this.pinned.isRetired) {
      const files = this.#files; // As they are: they may be merged meanwhile.
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

  /** Brings all series into the engine. They stay there as long as `pinned` is. */
  async flushToDuckDb(schema: TableSchema): Promise<void> {
    await this.whenIndexed();
    await this.table.flushToDuckDb(schema);
  }

  /** Runs `work` while all series that there are at the call are in the engine. */
  async held<T>(schema: TableSchema, work: () => Promise<T>): Promise<T> {
    this.pinned.pin();
    try {
      await this.flushToDuckDb(schema);
      return await work();
    } finally {
      this.pinned.unpin();
    }
  }

  /** Its file is registered. */
  noteStored({ count, file }: StoredSeries): void {
    this.storedCount = count;
    if (file !== undefined) this.#replaceFiles([], file);
  }

  /** One file with the series of several is registered in their place. */
  noteMerged({ removed, file }: MergedSeriesFiles): void {
    this.#replaceFiles(removed, file);
  }

  #replaceFiles(removed: readonly SeriesFile[], added: SeriesFile): void {
    const ids = new Set(removed.map(({ id }) => id));
    const open = this.#open(added);
    const retired = this.#files.filter(({ file }) => ids.has(file.id));
    this.#files = [...this.#files.filter(({ file }) => !ids.has(file.id)), open];
    for (const { pinned } of retired) pinned.retire();
    // The table went while this was registered, and the other files with it.
    if (this.pinned.isDisposed) open.pinned.retire();
  }

  #open(file: SeriesFile): OpenSeriesFile {
    const dispose = (): void => {
      this.#storage.remove(file.objectName).catch(this.#onError);
    };
    return { file, pinned: new Pinned(dispose) };
  }
}
