import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ChecksumThread,
  type FolderObjectStore,
  LocalObjectStore,
  NodeFileSystem,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { DuckDbHost } from '../duckdb/duckdb-host.js';
import { FileSums } from '../segments/file-sums.js';
import { SegmentFiles } from '../segments/segment-files.js';

export interface SegmentFolder {
  readonly duckDb: DuckDbHost;
  readonly files: SegmentFiles;
  readonly objects: FolderObjectStore;
  /** Folder in which DuckDB may write files. */
  readonly dir: string;
}

/** Segment files and a DuckDB host in their own folder, which is removed afterwards. */
export async function withSegmentFiles(
  work: (folder: SegmentFolder) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'plinth-table-'));
  const duckDb = new DuckDbHost({
    dataDir: dir,
    spillDir: join(dir, 'spill'),
    memoryLimitBytes: 512 * 1024 * 1024,
    threads: 2,
    idleConnections: 2,
    register: async () => {},
  });
  const fileSystem = new NodeFileSystem();
  const random = new SystemRandom(new SystemClock());
  const objects = await LocalObjectStore.open({ fileSystem, root: join(dir, 'objects'), random });
  const thread = new ChecksumThread();
  const sums = new FileSums(objects, thread);
  const files = new SegmentFiles({ duckDb, objects, fileSystem, sums, random, tempDir: dir });
  try {
    await work({ duckDb, files, objects, dir });
  } finally {
    await duckDb.close();
    await thread.close();
    await rm(dir, { recursive: true });
  }
}
