import { open, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { FolderLock, isDomainError, NodeFileSystem } from '@plinth/kernel';
import {
  BackupCorrupt,
  emptyFolder,
  type Manifest,
  makeEmptyFolder,
  piecesOf,
  readBackup,
  syncFolder,
  syncFolders,
  writeChecked,
} from '@plinth/server/backup/backup-folder.js';
import { RESTORE_MARKER } from '@plinth/server/folder/data-folder.js';
import { CommandFailed, cannotWrite } from '@plinth/server/process/command-failed.js';
import { BACKUP_HINT } from '@plinth/server/process/hints.js';
import { shellWord } from '@plinth/server/shell-word.js';
import { Command } from 'commander';
import { printLeftOut } from '../output/left-out.js';
import { Progress } from '../output/progress.js';
import { restrictUmask } from '../output/restrict-umask.js';
import { print } from '../output/terminal.js';
import { assertMayWrite } from './may-write.js';

/** Folder of the plugin files in a backup. */
const PLUGINS = 'plugins/';

export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('create a data folder from a backup (no running server required)')
    .requiredOption('--from <folder>', 'backup folder')
    .requiredOption('--data-dir <folder>', 'a new or empty folder')
    .addHelpText(
      'after',
      '\nExample:\n  plinth restore --from /backups/monday --data-dir ./data\n  plinth serve --data-dir ./data',
    );
  return command.action(async () => {
    restrictUmask();
    const from = resolve(String(command.opts()['from']));
    const to = resolve(String(command.opts()['dataDir']));
    const manifest = await readBackup(from);
    await assertApart(from, to);
    const typed = `plinth restore --from ${shellWord(from)} --data-dir ${shellWord(to)}`;
    await assertMayWrite(to, typed, { isEmpty: true, reads: from });
    await makeEmptyFolder(to, isIncompleteRestore);
    const lock = await lockFolder(to);
    try {
      await makeEmptyFolder(to, isIncompleteRestore); // A server may have used the folder in the meantime.
      await lock.sign().catch((error: unknown) => {
        throw cannotWrite(to, error);
      });
      await copyAll({ manifest, from, to });
    } finally {
      // The lock file and a new folder remain after a failure; the next attempt treats the folder as empty.
      await lock.release();
    }
    print(`${to}: restored to ${manifest.created_at}\n`);
    if (manifest.files.some(({ name }) => name.startsWith(PLUGINS))) {
      print(`to run the plugins, start the server with --plugin-dir ${join(to, PLUGINS)}\n`);
    }
    printLeftOut(manifest);
  });
}

/** Throws if the target is inside the backup: removing one would remove the other. */
async function assertApart(from: string, to: string): Promise<void> {
  const [source, target] = await Promise.all([realPathOf(from), realPathOf(to)]);
  if (target !== source && !target.startsWith(source + sep)) return;
  throw new CommandFailed(`${to} is inside the backup ${from}; use a folder outside the backup`);
}

/** Resolves links in the part of the path that exists. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPathOf(parent), basename(path));
  }
}

/** Servers refuse to start on an interrupted restore, so it can be overwritten. */
const isIncompleteRestore = (names: readonly string[]): boolean => names.includes(RESTORE_MARKER);

async function lockFolder(folder: string): Promise<FolderLock> {
  try {
    return await FolderLock.take(new NodeFileSystem(), folder);
  } catch (error) {
    throw isDomainError(error) ? new CommandFailed(error.message) : error;
  }
}

/** Copies either all files or none. */
async function copyAll(options: {
  readonly manifest: Manifest;
  readonly from: string;
  readonly to: string;
}): Promise<void> {
  const { manifest, from, to } = options;
  const marker = join(to, RESTORE_MARKER);
  const made = await open(marker, 'w').catch((error: unknown) => {
    throw cannotWrite(marker, error);
  });
  await made.close();
  await syncFolder(to);
  await emptyFolder(to, [RESTORE_MARKER]);
  const progress = new Progress(
    'restore',
    manifest.files.reduce((sum, file) => sum + file.size_bytes, 0),
  );
  try {
    for (const file of manifest.files) {
      const pieces = piecesOf(from, file.name);
      await writeChecked(join(to, file.name), pieces, file, (size) => progress.add(size));
    }
    await syncFolders(to, manifest.files);
  } catch (error) {
    await emptyFolder(to, [RESTORE_MARKER]);
    await syncFolder(to); // The removal of all other files must be durable before the marker is removed.
    await rm(marker);
    await syncFolder(to);
    throw error instanceof BackupCorrupt ? new CommandFailed(error.message + BACKUP_HINT) : error;
  }
  await rm(marker);
  await syncFolder(to);
  progress.end();
}
