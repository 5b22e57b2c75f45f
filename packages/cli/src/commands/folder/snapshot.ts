import { copyFile, open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  checkDatabase,
  type FileSystem,
  FolderLock,
  isDomainError,
  moveAside,
  NodeFileSystem,
  openRelationalStore,
  repairedName,
  replaceDamaged,
  SystemClock,
} from '@plinth/kernel';
import { listSnapshots, SNAPSHOT_FOLDER } from '@plinth/server/folder/catalog-snapshots.js';
import { STORE_FILE } from '@plinth/server/folder/file-names.js';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { shellWord } from '@plinth/server/shell-word.js';
import { Command } from 'commander';
import { isJson, printJson, withFormat } from '../output/listing.js';
import { restrictUmask } from '../output/restrict-umask.js';
import { print } from '../output/terminal.js';
import { assertMayWrite } from './may-write.js';

export function snapshotCommand(): Command {
  const command = withFormat(new Command('snapshot'))
    .description('list the snapshots of plinth.db in a data folder, or restore one')
    .requiredOption('--data-dir <folder>', 'data folder')
    .option('--restore <name>', 'replace plinth.db with this snapshot; the server must be stopped')
    .addHelpText(
      'after',
      `
Examples:
  plinth snapshot --data-dir ./data
  plinth snapshot --data-dir ./data --restore plinth-20260131T120000Z.db

All services return to the time of the snapshot. Newer row files are moved to objects/tsdb-unknown. The replaced plinth.db is kept as plinth.db.damaged.`,
    );
  return command.action(async () => {
    const { dataDir, restore } = command.opts<{ dataDir: string; restore?: string }>();
    const folder = resolve(dataDir);
    const names = await listSnapshots(new NodeFileSystem(), folder);
    if (restore !== undefined) return await restoreSnapshot(folder, restore, names);
    const rows = await Promise.all(
      names.map(async (name) => {
        const { size, mtime } = await stat(join(folder, SNAPSHOT_FOLDER, name));
        return { name, size_bytes: size, created_at: mtime.toISOString() };
      }),
    );
    if (isJson(command)) return printJson(rows);
    if (rows.length === 0) print(`${folder}: no snapshots\n`);
    for (const { name, size_bytes, created_at } of rows)
      print(`${name}: ${size_bytes} bytes, ${created_at}\n`);
  });
}

async function restoreSnapshot(
  dataDir: string,
  name: string,
  names: readonly string[],
): Promise<void> {
  if (!names.includes(name)) {
    const known =
      names.length === 0 ? 'the folder contains no snapshots' : `use one of ${names.join(', ')}`;
    throw new CommandFailed(`snapshot "${name}" not found in ${dataDir}; ${known}`);
  }
  await assertMayWrite(
    dataDir,
    `plinth snapshot --data-dir ${shellWord(dataDir)} --restore ${name}`,
  );
  restrictUmask();
  const files = new NodeFileSystem();
  const lock = await orFail(FolderLock.take(files, dataDir));
  try {
    const snapshot = join(dataDir, SNAPSHOT_FOLDER, name);
    const faults = await orFail(checkDatabase(snapshot, true));
    if (faults.length > 0) {
      throw new CommandFailed(
        `${snapshot} is corrupt: ${faults.join('; ')}\n  Use an older snapshot.`,
      );
    }
    await replaceStore(files, dataDir, snapshot);
  } finally {
    await lock.release();
  }
  print(`${join(dataDir, STORE_FILE)}: restored from ${name}\n`);
}

async function orFail<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw isDomainError(error) ? new CommandFailed(error.message) : error;
  });
}

/** The server would not start with the log, which is newer than the snapshot. */
async function takeLog(fileSystem: FileSystem, path: string): Promise<void> {
  // Loaded here, because other commands do not use the service.
  const { acceptLogState } = await import('@plinth/tsdb');
  const store = await openRelationalStore({ path, clock: new SystemClock(), fileSystem });
  try {
    await acceptLogState(store);
  } finally {
    await store.close();
  }
}

/** Removes the journal of the replaced database first: SQLite would apply it to the new one. */
async function replaceStore(files: FileSystem, dataDir: string, snapshot: string): Promise<void> {
  const path = join(dataDir, STORE_FILE);
  const copy = repairedName(path);
  await copyFile(snapshot, copy);
  const file = await open(copy, 'r+');
  try {
    await file.chmod(0o600);
    await file.sync();
  } finally {
    await file.close();
  }
  await orFail(takeLog(files, copy));
  // A journal left by an earlier repair does not belong to the database that is replaced now.
  await files.remove(`${path}-wal.damaged`);
  if ((await files.stat(`${path}-wal`)) !== undefined)
    await moveAside(files, dataDir, `${path}-wal`, 0);
  await files.remove(`${path}-shm`);
  if ((await files.stat(path)) !== undefined) await replaceDamaged(files, dataDir, path);
  else await files.rename(copy, path);
  await files.remove(`${path}-run`);
  await files.syncDirectory(dataDir);
}
