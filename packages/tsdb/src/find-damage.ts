import { join } from 'node:path';
import {
  ChecksumThread,
  checkLog,
  type FileSystem,
  type LogLoss,
  NO_CHECKPOINT,
  type ObjectStore,
  type RelationalStore,
  StoreOutage,
} from '@plinth/kernel';
import type { CatalogTables } from '@plinth/tsdb-catalog/records/catalog-tables.js';
import type { Segment, SeriesFile } from '@plinth/tsdb-model/segment.js';
import { isoOf } from '@plinth/tsdb-model/time/calendar.js';
import { FileDamaged, FileSums } from '@plinth/tsdb-storage/segments/file-sums.js';
import { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';
import { LOG_FOLDER } from '@plinth/tsdb-storage/wal/log-folder.js';
import { describeLostRows } from '@plinth/tsdb-storage/wal/lost-rows.js';

interface Tables extends CatalogTables {
  sqlite_master: { type: string; name: string };
}

/** Result of reading one file of the time-series service completely. */
export interface ReadFile {
  readonly sizeBytes: number;
  /** The problem with the file, and its contents; `undefined` if it is intact. */
  readonly damage: string | undefined;
  /** Changes that the next start will make to the file without losing acknowledged rows. */
  readonly notes?: readonly string[];
  /** Changes that the next start will make and that can lose acknowledged rows. */
  readonly warnings?: readonly string[];
}

export interface FileCheck {
  readonly fileCount: number;
  readonly totalBytes: number;
  /** Reads the files one after another. */
  readonly files: AsyncIterable<ReadFile>;
}

interface CheckedStores {
  readonly relational: RelationalStore;
  readonly objects: ObjectStore;
  readonly fileSystem: FileSystem;
  readonly dataDir: string;
}

/**
 * Verifies the checksum of every file of the time-series service, and reads the log like at startup.
 * The service must not be running. Changes nothing.
 */
export async function findDamage(stores: CheckedStores): Promise<FileCheck> {
  const names = await tableNames(stores.relational);
  const stored = names.has('tsdb_segments') ? await storedFiles(stores.relational) : [];
  const logSizes = await sizesOfLog(stores);
  return {
    fileCount: stored.length + logSizes.length,
    totalBytes: [...stored.map(({ file }) => file.sizeBytes), ...logSizes].reduce(
      (sum, sizeBytes) => sum + sizeBytes,
      0,
    ),
    files: (async function* () {
      yield* compare(stored, stores.objects);
      yield* readLog(stores, names);
    })(),
  };
}

async function tableNames(relational: RelationalStore): Promise<ReadonlySet<string>> {
  const reader = relational.reader<Tables>();
  const rows = await reader.selectFrom('sqlite_master').select('name').execute();
  return new Set(rows.map(({ name }) => name));
}

async function sizesOfLog({ fileSystem, dataDir }: CheckedStores): Promise<readonly number[]> {
  const folder = join(dataDir, LOG_FOLDER);
  if ((await fileSystem.stat(folder)) === undefined) return [];
  const names = (await fileSystem.list(folder)).filter((name) => name.endsWith('.log'));
  const stats = await Promise.all(names.map((name) => fileSystem.stat(join(folder, name))));
  return stats.map((stat) => stat?.sizeBytes ?? 0);
}

/**
 * @param names tables of the relational store: an older release, or a server that failed during startup, may not have
 * created all of them.
 */
async function* readLog(
  { relational, fileSystem, dataDir }: CheckedStores,
  names: ReadonlySet<string>,
): AsyncGenerator<ReadFile> {
  const registry = new SegmentRegistry(relational);
  const meta = relational.reader<Tables>().selectFrom('tsdb_meta').selectAll();
  const rows = names.has('tsdb_meta') ? await meta.execute() : [];
  const tables = names.has('tsdb_tables') ? await tablesById(relational) : new Map();
  const files = checkLog({
    describe: (payload) => describeLostRows(payload, (id) => tables.get(id)),
    fileSystem,
    directory: join(dataDir, LOG_FOLDER),
    nodeId: rows.find(({ key }) => key === 'node_uuid')?.value ?? '',
    expected: {
      ...(names.has('tsdb_known_log') ? await registry.logCheckpointRecord.load() : NO_CHECKPOINT),
      newestFile: names.has('tsdb_known_log_file') ? await registry.logCheckpointFile() : 0,
    },
  });
  for await (const { sizeBytes, damage, losses } of files) {
    const text = damage && `${damage.message}; the server refuses this file at startup`;
    const cut = losses.filter(({ kind }) => kind === 'tail_cut');
    const other = losses.filter(({ kind }) => kind !== 'tail_cut');
    yield { sizeBytes, damage: text, notes: other.map(noteOf), warnings: cut.map(warningOf) };
  }
}

const bytesText = ({ file, offset, lostBytes }: LogLoss): string =>
  `${file}: ${lostBytes} bytes at offset ${offset}`;

function noteOf(loss: LogLoss): string {
  const of =
    loss.kind === 'tail_unacknowledged' ? 'a write that was never acknowledged' : 'no record';
  return `${bytesText(loss)} belong to ${of}; the next start removes them`;
}

function warningOf(loss: LogLoss): string {
  const { lostContent = [] } = loss;
  const content = lostContent.length > 0 ? ` Content: ${lostContent.join('; ')}.` : '';
  return `${bytesText(loss)} are an incomplete or corrupt last record, which the next start quarantines. If the server acknowledged it, its rows are lost.${content}`;
}

interface StoredFile {
  readonly file: Segment | SeriesFile;
  /** Describes the data that would be lost with the file. */
  readonly holds: string;
}

async function storedFiles(relational: RelationalStore): Promise<readonly StoredFile[]> {
  const { segments, seriesFiles } = await new SegmentRegistry(relational).load();
  const names = await tablesById(relational);
  const tableOf = ({ tableId }: Segment | SeriesFile): string =>
    names.get(tableId) ?? `number ${tableId}`;
  return [
    ...segments.map((file) => ({
      file,
      holds: `${file.rowCount} rows of table ${tableOf(file)} from ${isoOf(file.minTime)} to ${isoOf(file.maxTime)}`,
    })),
    ...seriesFiles.map((file) => ({
      file,
      holds: `the series index of table ${tableOf(file)}, which the next start rebuilds`,
    })),
  ];
}

/** Returns the names of the tables with their databases. */
async function tablesById(relational: RelationalStore): Promise<ReadonlyMap<number, string>> {
  const tables = await relational
    .reader<Tables>()
    .selectFrom('tsdb_tables')
    .innerJoin('tsdb_databases', 'tsdb_databases.id', 'tsdb_tables.database_id')
    .select(['tsdb_tables.id', 'tsdb_tables.name', 'tsdb_databases.name as database'])
    .execute();
  return new Map(tables.map(({ id, name, database }) => [Number(id), `${database}.${name}`]));
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
        if (!(error instanceof FileDamaged || error instanceof StoreOutage)) throw error;
        yield { sizeBytes, damage: `${error.message}; it contains ${holds}` };
      }
    }
  } finally {
    await thread.close();
  }
}
