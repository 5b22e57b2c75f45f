import { copyFile, link, open, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkDatabase, FolderLock, isDomainError, NodeFileSystem } from '@plinth/kernel';
import { Command } from 'commander';
import { syncFolder } from '../../backup/backup-folder.js';
import { listSnapshots, SNAPSHOT_FOLDER } from '../../folder/catalog-snapshots.js';
import { STORE_FILE } from '../../folder/data-folder.js';
import { CommandFailed } from '../output/exit.js';
import { keepToItself } from '../output/keep-to-itself.js';
import { isJson, printJson, withFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';

/** `plinth snapshot`. */
export function snapshotCommand(): Command {
  const command = withFormat(new Command('snapshot'))
    .description('list the snapshots of plinth.db in a data folder, or restore one')
    .requiredOption('--data-dir <folder>', 'the data folder')
    .option(
      '--restore <name>',
      'replace plinth.db by this snapshot; no server may run on the folder',
    )
    .addHelpText(
      'after',
      `
Examples:
  plinth snapshot --data-dir ./data
  plinth snapshot --data-dir ./data --restore plinth-20260131T120000Z.db

All services return to the time of the snapshot. Rows that were written to files since are moved to
objects/tsdb-unknown. The replaced plinth.db is kept as plinth.db.damaged.`,
    );
  return command.action(async () => {
    const { dataDir, restore } = command.opts<{ dataDir: string; restore?: string }>();
    const folder = resolve(dataDir);
    const names = await listSnapshots(folder);
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
    const known = names.length === 0 ? 'there are none' : `use one of ${names.join(', ')}`;
    throw new CommandFailed(`snapshot "${name}" not found in ${dataDir}; ${known}`);
  }
  keepToItself();
  const lock = await FolderLock.take(new NodeFileSystem(), dataDir).catch((error: unknown) => {
    throw isDomainError(error) ? new CommandFailed(error.message) : error;
  });
  try {
    const snapshot = join(dataDir, SNAPSHOT_FOLDER, name);
    const faults = await checkDatabase(snapshot, true);
    if (faults.length > 0) {
      throw new CommandFailed(`${snapshot} is corrupt: ${faults.join('; ')}\n  use an older one`);
    }
    await replaceStore(dataDir, snapshot);
  } finally {
    await lock.release();
  }
  print(`${join(dataDir, STORE_FILE)}: restored from ${name}\n`);
}

/** The journal of the replaced database goes before the new one is in place: SQLite would apply it. */
async function replaceStore(dataDir: string, snapshot: string): Promise<void> {
  const path = join(dataDir, STORE_FILE);
  const copy = `${path}.repaired`;
  await copyFile(snapshot, copy);
  const file = await open(copy, 'r+');
  try {
    await file.chmod(0o600);
    await file.sync();
  } finally {
    await file.close();
  }
  for (const damaged of [path, `${path}-wal`]) {
    await rm(`${damaged}.damaged`, { force: true });
    await link(damaged, `${damaged}.damaged`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  await syncFolder(dataDir);
  await rm(`${path}-wal`, { force: true });
  await rm(`${path}-shm`, { force: true });
  await syncFolder(dataDir);
  await rename(copy, path);
  await rm(`${path}-run`, { force: true });
  await syncFolder(dataDir);
}
