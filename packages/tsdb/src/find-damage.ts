import { ChecksumThread, type ObjectStore, type RelationalStore } from '@plinth/kernel';
import type { CatalogTables } from './domain/catalog/records/catalog-tables.js';
import { isoOf } from './model/time/calendar.js';
import { FileDamaged, FileSums } from './storage/segments/file-sums.js';
import type { Segment, SeriesFile } from './storage/segments/segment.js';
import { SegmentRegistry } from './storage/segments/segment-registry.js';

interface Tables extends CatalogTables {
  sqlite_master: { type: string; name: string };
}

/** A file of the time-series service that was read as a whole. */
export interface ReadFile {
  readonly sizeBytes: number;
  /** What is wrong with it, and what it holds; `undefined`: nothing. */
  readonly damage: string | undefined;
}

export interface FileCheck {
  readonly fileCount: number;
  readonly totalBytes: number;
  /** Reads one file after the other. */
  readonly files: AsyncIterable<ReadFile>;
}

/**
 * Compares every file of the time-series service with what was written, whatever is remembered of it. The service must not run.
 * Nothing is changed.
 */
export async function findDamage(stores: {
  readonly relational: RelationalStore;
  readonly objects: ObjectStore;
}): Promise<FileCheck> {
  const stored = await storedFiles(stores.relational);
  return {
    fileCount: stored.length,
    totalBytes: stored.reduce((sum, { file }) => sum + file.sizeBytes, 0),
    files: compare(stored, stores.objects),
  };
}

interface StoredFile {
  readonly file: Segment | SeriesFile;
  /** For whoever loses it. */
  readonly holds: string;
}

async function storedFiles(relational: RelationalStore): Promise<readonly StoredFile[]> {
  const reader = relational.reader<Tables>();
  const known = await reader
    .selectFrom('sqlite_master')
    .select('name')
    .where('name', '=', 'tsdb_segments')
    .execute();
  if (known.length === 0) return []; // The service never ran here.
  const { segments, seriesFiles } = await new SegmentRegistry(relational).load();
  const tables = await reader
    .selectFrom('tsdb_tables')
    .innerJoin('tsdb_databases', 'tsdb_databases.id', 'tsdb_tables.database_id')
    .select(['tsdb_tables.id', 'tsdb_tables.name', 'tsdb_databases.name as database'])
    .execute();
  const names = new Map(
    tables.map(({ id, name, database }) => [Number(id), `${database}.${name}`]),
  );
  const tableOf = ({ tableId }: Segment | SeriesFile): string =>
    names.get(tableId) ?? `number ${tableId}`;
  return [
    ...segments.map((file) => ({
      file,
      holds: `${file.rowCount} rows of table ${tableOf(file)} from ${isoOf(file.minTime)} to ${isoOf(file.maxTime)}`,
    })),
    ...seriesFiles.map((file) => ({
      file,
      holds: `an index of table ${tableOf(file)}, which the next start makes anew`,
    })),
  ];
}

async function* compare(
  stored: readonly StoredFile[],
  objects: ObjectStore,
): AsyncGenerator<ReadFile> {
  const thread = new ChecksumThread();
  const sums = new FileSums(objects, thread);
  try {
    for (const { file, holds } of stored) {
      const { sizeBytes } = file;
      try {
        await sums.verify(file);
        yield { sizeBytes, damage: undefined };
      } catch (error) {
        if (!(error instanceof FileDamaged)) throw error;
        yield { sizeBytes, damage: `${error.message}; it holds ${holds}` };
      }
    }
  } finally {
    await thread.close();
  }
}
