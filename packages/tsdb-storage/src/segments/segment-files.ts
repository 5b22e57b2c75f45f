import type { FileSystem, FolderObjectStore, Random } from '@plinth/kernel';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';
import type { DuckDbHost } from '../duckdb/duckdb-host.js';
import type { FileSum, FileSums } from './file-sums.js';
import { SegmentReader } from './reader/segment-reader.js';

/** Rows per Parquet row group, which DuckDB reads or skips as a unit. */
const ROW_GROUP_ROWS = 20_480;

/**
 * The maximum dictionary size of each column in a file (Parquet `DICTIONARY_SIZE_LIMIT`). A column with at most that many distinct
 * values in a row group is dictionary-encoded. Otherwise, integers are delta-encoded: two or three
 * bits for slowly changing values, 64 for arbitrary ones. Floats and strings usually become larger
 * without a dictionary.
 */
export type DictionaryLimit = 'default' | 'small';
const DICTIONARY_OPTION: Record<DictionaryLimit, string> = {
  default: '', // DuckDB's default: a fifth of the row group.
  small: ', DICTIONARY_SIZE_LIMIT 64',
};
/** Minimum share of the size that small dictionaries must save to be used. */
const MIN_SAVED_SHARE = 0.2;

/**
 * Level 4 saves a tenth compared with DuckDB's default of 3, for a twentieth more time. Levels up
 * to 12 add little, and higher ones take half as much time again.
 */
const COMPRESSION = 'COMPRESSION zstd, COMPRESSION_LEVEL 4';

/**
 * DuckDB's dictionaries treat 0.0 and -0.0 as one value, but its bloom filters contain only the
 * bits of the first one. A query for the other would skip matching rows.
 */
const NO_BLOOM_FILTER = 'WRITE_BLOOM_FILTER false';

/** Folders next to `tsdb` for corrupt and for unknown files. */
const ASIDE_FOLDER = 'tsdb-damaged';
const UNKNOWN_FOLDER = 'tsdb-unknown';

/** The action taken for files that are not in the registry. */
export interface UnknownFiles {
  readonly kind: 'removed' | 'moved';
  readonly count: number;
  readonly sizeBytes: number;
  /** The folder to which the files were moved, if they were moved. */
  readonly folder: string;
}

export interface WrittenFile extends FileSum {
  readonly id: string;
  readonly objectName: string;
  readonly modifiedMs: number | undefined;
  readonly rowCount: number;
}

export interface WrittenSegment extends WrittenFile {
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly minSeries: bigint;
  readonly maxSeries: bigint;
}

/** A file that DuckDB has written, before the object store adopts it. */
interface TemporaryFile {
  readonly id: string;
  readonly path: string;
}

const objectNameOf = (tableUuid: string, { id }: TemporaryFile): string =>
  `tsdb/${tableUuid}/${id}.parquet`;

/** Writes query results as immutable Parquet objects and verifies them when they are read. */
export class SegmentFiles {
  readonly reader: SegmentReader;
  readonly #duckDb: DuckDbHost;
  readonly #objects: FolderObjectStore;
  readonly #random: Random;
  readonly #fileSystem: FileSystem;
  readonly #sums: FileSums;
  readonly #keepsForReaders: (objectName: string) => Promise<boolean>;
  readonly #onError: (error: unknown) => void;
  /** Folder for files that DuckDB is writing. */
  readonly #tempDir: string;
  #lastRemoval: Promise<unknown> = Promise.resolve();

  constructor(options: {
    readonly duckDb: DuckDbHost;
    readonly objects: FolderObjectStore;
    readonly random: Random;
    readonly fileSystem: FileSystem;
    readonly sums: FileSums;
    readonly tempDir: string;
    /** See `PublishedTables.release`; absent means that no file is kept. */
    readonly keepsForReaders?: (objectName: string) => Promise<boolean>;
    /** Called for unregistered files that could not be removed. They are removed at the next start. */
    readonly onError?: (error: unknown) => void;
  }) {
    this.#onError = options.onError ?? (() => {});
    this.#keepsForReaders = options.keepsForReaders ?? (async () => false);
    this.#duckDb = options.duckDb;
    this.#objects = options.objects;
    this.reader = new SegmentReader(options.objects);
    this.#random = options.random;
    this.#fileSystem = options.fileSystem;
    this.#sums = options.sums;
    this.#tempDir = options.tempDir;
  }

  /**
   * Writes rows with the columns `_series` and `"time"`. Returns `undefined` if the query has no
   * rows.
   */
  async writeSegment(options: {
    readonly tableUuid: string;
    readonly select: string;
    /** Field ids of the columns by name, for other Parquet readers; helper columns, such as `_seq`, have none. */
    readonly fieldIds: ReadonlyMap<string, number>;
    readonly dictionaryLimit: DictionaryLimit;
  }): Promise<WrittenSegment | undefined> {
    const temp = await this.#copy(options.select, options);
    return await this.#removeOnFailure(options.tableUuid, temp, () =>
      this.#adoptSegment(options.tableUuid, temp),
    );
  }

  async writeSeries(options: {
    readonly tableUuid: string;
    readonly select: string;
    readonly seriesCount: number;
  }): Promise<WrittenFile> {
    const { tableUuid } = options;
    const temp = await this.#copy(options.select, {
      fieldIds: new Map(),
      dictionaryLimit: 'default',
    });
    return await this.#removeOnFailure(tableUuid, temp, async () => {
      const [rowCount] = await this.#queryRow(temp, 'count(*)');
      if (rowCount !== BigInt(options.seriesCount))
        throw new Error(`DuckDB wrote only ${rowCount} of ${options.seriesCount} series`);
      return await this.#adopt(tableUuid, temp, options.seriesCount);
    });
  }

  /** Returns the dictionary limit that produces smaller files for rows like the rows of `select`. */
  async tryDictionaryLimits(select: string): Promise<DictionaryLimit> {
    const fieldIds: ReadonlyMap<string, number> = new Map();
    const withDefault = await this.#copy(select, { fieldIds, dictionaryLimit: 'default' });
    try {
      const again = `SELECT * FROM read_parquet(${quoteString(withDefault.path)})`;
      const withSmall = await this.#copy(again, { fieldIds, dictionaryLimit: 'small' });
      try {
        const [defaultBytes, smallBytes] = await Promise.all([
          this.#sizeOf(withDefault),
          this.#sizeOf(withSmall),
        ]);
        return smallBytes <= (1 - MIN_SAVED_SHARE) * defaultBytes ? 'small' : 'default';
      } finally {
        await this.#fileSystem.remove(withSmall.path);
      }
    } finally {
      await this.#fileSystem.remove(withDefault.path);
    }
  }

  /**
   * Writes a query result to a temporary file, which is removed by `dispose` or at the next start
   * of the node.
   */
  async writeResult(options: {
    readonly select: string;
    readonly queryContext: QueryContext;
  }): Promise<{
    readonly path: string;
    readonly sizeBytes: number;
    readonly rowCount: number;
    dispose(): Promise<void>;
  }> {
    const path = `${this.#tempDir}/${this.#random.uuidV7()}.parquet`;
    const dispose = (): Promise<void> => this.#fileSystem.remove(path);
    try {
      const rowCount = await this.#duckDb.run(
        `COPY (${options.select}) TO ${quoteString(path)} (FORMAT parquet, COMPRESSION zstd, ${NO_BLOOM_FILTER})`,
        options.queryContext,
      );
      const stat = await this.#fileSystem.stat(path);
      return { path, sizeBytes: stat?.sizeBytes ?? 0, rowCount, dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  pathOf(objectName: string): string {
    return this.#objects.localPath(objectName);
  }

  /**
   * Removes files one at a time, because thousands of concurrent removals would delay all other
   * file operations.
   */
  async remove(objectName: string): Promise<void> {
    const removed = this.#lastRemoval.then(() => this.#objects.delete(objectName));
    this.#lastRemoval = removed.catch(() => undefined); // The caller receives the failure; the next removal runs regardless.
    await removed;
  }

  /**
   * Removes files that were written but not registered: a retry writes new ones, and on a full disk,
   * the old ones would accumulate until the next start.
   */
  async removeUnregistered(files: Iterable<{ readonly objectName: string }>): Promise<void> {
    for (const { objectName } of files) await this.remove(objectName).catch(this.#onError);
  }

  /** Removes a segment that left the registry, unless readers of published snapshots may need it. */
  async removeUnlessPublished(objectName: string): Promise<void> {
    if (!(await this.#keepsForReaders(objectName))) await this.remove(objectName);
  }

  /** See `FileSums`. */
  async verify(file: FileSum & { readonly objectName: string }): Promise<void> {
    await this.#sums.verify(file);
  }

  /** Moves a corrupt object to the quarantine folder. A missing file is not an error. */
  async moveAside(objectName: string): Promise<void> {
    const path = this.#objects.localPath(objectName);
    if ((await this.#fileSystem.stat(path)) === undefined) return;
    const aside = `${ASIDE_FOLDER}/${objectName.split('/').at(-1)}`;
    await this.#objects.delete(aside); // an interrupted repair may have left it
    await this.#objects.adopt(aside, path);
  }

  /**
   * Removes or moves objects below `tsdb/` that are not in `known`. They are removed only if no
   * data can be lost. This requires that all known files exist, and that the log contains
   * everything else (`isLogWhole`). Otherwise, the registry is older than the files, and the
   * objects are moved to the folder for unknown files. Returns `undefined` if there are none.
   * @param kept unregistered files that published snapshots may list; some may be removed already
   */
  async clearUnknown(
    { known, kept }: { readonly known: ReadonlySet<string>; readonly kept: ReadonlySet<string> },
    isLogWhole: boolean,
  ): Promise<UnknownFiles | undefined> {
    const found = await this.#objects.list('tsdb/');
    const foundCount = found.filter(({ name }) => known.has(name)).length;
    const unknown = found.filter(({ name }) => !known.has(name) && !kept.has(name));
    if (unknown.length === 0) return undefined;
    const isWhole = isLogWhole && foundCount === known.size;
    for (const { name } of unknown) {
      if (isWhole) {
        await this.#objects.delete(name);
        continue;
      }
      const aside = `${UNKNOWN_FOLDER}/${name.slice('tsdb/'.length)}`;
      await this.#objects.delete(aside); // an interrupted start may have left it
      await this.#objects.adopt(aside, this.#objects.localPath(name));
    }
    return {
      kind: isWhole ? 'removed' : 'moved',
      count: unknown.length,
      sizeBytes: unknown.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      folder: this.#objects.localPath(UNKNOWN_FOLDER),
    };
  }

  async #sizeOf(temp: TemporaryFile): Promise<number> {
    return (await this.#fileSystem.stat(temp.path))?.sizeBytes ?? 0;
  }

  async #copy(
    select: string,
    {
      fieldIds,
      dictionaryLimit,
    }: {
      readonly fieldIds: ReadonlyMap<string, number>;
      readonly dictionaryLimit: DictionaryLimit;
    },
  ): Promise<TemporaryFile> {
    const id = this.#random.uuidV7();
    const path = `${this.#tempDir}/${id}.parquet`;
    const ids = [...fieldIds].map(([name, fieldId]) => `${quoteName(name)}: ${fieldId}`);
    const fieldIdOption = ids.length === 0 ? '' : `, FIELD_IDS {${ids.join(', ')}}`;
    await this.#duckDb.copy(
      `COPY (${select}) TO ${quoteString(path)} (FORMAT parquet, ${COMPRESSION}, PARQUET_VERSION v2, ROW_GROUP_SIZE ${ROW_GROUP_ROWS}, ${NO_BLOOM_FILTER}${DICTIONARY_OPTION[dictionaryLimit]}${fieldIdOption})`,
    );
    return { id, path };
  }

  /**
   * Deletes the file if `adopt` fails. A retry writes another file, and this one would occupy space
   * until the next start.
   */
  async #removeOnFailure<T>(
    tableUuid: string,
    temp: TemporaryFile,
    adopt: () => Promise<T>,
  ): Promise<T> {
    try {
      return await adopt();
    } catch (error) {
      await this.#fileSystem.remove(temp.path).catch(() => undefined); // The first error is more informative.
      await this.remove(objectNameOf(tableUuid, temp)).catch(() => undefined);
      throw error;
    }
  }

  async #adoptSegment(tableUuid: string, temp: TemporaryFile): Promise<WrittenSegment | undefined> {
    const stats = await this.#queryRow(
      temp,
      'count(*), epoch_ns(min("time")), epoch_ns(max("time")), min(_series), max(_series)',
    );
    const [rowCount, minTime, maxTime, minSeries, maxSeries] = stats as [
      bigint,
      bigint | null,
      bigint | null,
      bigint | null,
      bigint | null,
    ];
    const file = await this.#adopt(tableUuid, temp, Number(rowCount));
    if (minTime === null || maxTime === null || minSeries === null || maxSeries === null) {
      await this.remove(file.objectName);
      return undefined;
    }
    return { ...file, minTime, maxTime, minSeries, maxSeries };
  }

  /**
   * Reads back a file that DuckDB reported as written. A truncated file would lose rows when the
   * log is deleted.
   */
  async #queryRow(temp: TemporaryFile, values: string): Promise<readonly unknown[]> {
    const [row] = await this.#duckDb.rows(
      `SELECT ${values} FROM read_parquet(${quoteString(temp.path)})`,
    );
    return row ?? [];
  }

  async #adopt(tableUuid: string, temp: TemporaryFile, rowCount: number): Promise<WrittenFile> {
    const objectName = objectNameOf(tableUuid, temp);
    const stat = await this.#fileSystem.stat(temp.path);
    await this.#objects.adopt(objectName, temp.path);
    const sum = await this.#sums.sum(objectName, stat?.sizeBytes ?? 0);
    const modifiedMs = stat === undefined ? undefined : Math.floor(stat.modifiedMs);
    return { id: temp.id, objectName, ...sum, modifiedMs, rowCount };
  }
}
