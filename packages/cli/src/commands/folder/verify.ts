import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  checkClosedDatabase,
  FOLDER_LOCK_FILES,
  FolderLock,
  isDomainError,
  LocalObjectStore,
  type LogLoss,
  NodeFileSystem,
  openRelationalStore,
  readableStore,
  SystemClock,
  SystemRandom,
  storeError,
} from '@plinth/kernel';
import { checked, piecesOf, readBackup } from '@plinth/server/backup/backup-folder.js';
import { STORE_FILE } from '@plinth/server/folder/file-names.js';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import {
  BACKUP_HINT,
  CORRUPT_HINT,
  DAMAGE_HINT,
  LOST_CHANGES_HINT,
} from '@plinth/server/process/hints.js';
import { Command } from 'commander';
import { countOf } from '../output/count-of.js';
import { printLeftOut } from '../output/left-out.js';
import { Progress } from '../output/progress.js';
import { restrictUmask } from '../output/restrict-umask.js';
import { print, printNote } from '../output/terminal.js';

const [LOCK_FILE = ''] = FOLDER_LOCK_FILES;

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('verify a backup or the data folder of a stopped server, read-only')
    .option('--from <folder>', 'backup folder')
    .option('--data-dir <folder>', 'data folder of a stopped server')
    .addHelpText(
      'after',
      '\nExamples:\n  plinth verify --from /backups/monday\n  plinth verify --data-dir ./data',
    );
  return command.action(async () => {
    const { from, dataDir } = command.opts<{ from?: string; dataDir?: string }>();
    if ((from === undefined) === (dataDir === undefined)) {
      throw new CommandFailed('use either --from or --data-dir', EXIT.usage);
    }
    if (from !== undefined) await verifyBackup(resolve(from));
    else await verifyDataFolder(resolve(String(dataDir)));
  });
}

async function verifyBackup(from: string): Promise<void> {
  const manifest = await readBackup(from);
  const totalBytes = manifest.files.reduce((sum, file) => sum + file.size_bytes, 0);
  const progress = new Progress('verify', totalBytes);
  const faults: string[] = [];
  for (const file of manifest.files) {
    try {
      for await (const piece of checked(piecesOf(from, file.name), file)) {
        progress.add(piece.byteLength);
      }
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      faults.push(error.message);
    }
  }
  progress.end();
  report(from, faults, manifest.files.length, totalBytes, BACKUP_HINT);
  printLeftOut(manifest);
}

async function verifyDataFolder(dataDir: string): Promise<void> {
  const found = await checkDataFolder(dataDir);
  const { faults, warnings, notes, fileCount, totalBytes, hints } = found;
  for (const note of notes) printNote(`plinth: note: ${note}\n`);
  for (const warning of warnings) printNote(`plinth: warning: ${warning}\n`);
  if (faults.length === 0 && warnings.length > 0) {
    throw new CommandFailed(
      `${dataDir}: ${fileCount} files, ${totalBytes} bytes; no other file is corrupt, but acknowledged data may be lost`,
      EXIT.possibleLoss,
    );
  }
  report(dataDir, faults, fileCount, totalBytes, hints.join(''));
}

/**
 * Checks the files that the server does not verify at startup. Throws `CommandFailed` if the folder is in use or
 * `plinth.db` cannot be read.
 */
export async function checkDataFolder(dataDir: string): Promise<{
  readonly faults: readonly string[];
  /** Data at the end of a journal that the next start removes. It may have been acknowledged. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** Fixes for `faults` that do not name their own. */
  readonly hints: readonly string[];
  readonly fileCount: number;
  readonly totalBytes: number;
}> {
  const path = join(dataDir, STORE_FILE);
  const { size } = await stat(path).catch((error: Error) => {
    throw new CommandFailed(
      `cannot read ${path}: ${error.message}; use the path of a data folder, or, if the file was lost, restore a backup or a snapshot`,
    );
  });
  if (size === 0) throw new CommandFailed(`${path} is empty; restore a backup or a snapshot`);
  restrictUmask();
  const fileSystem = new NodeFileSystem();
  const clock = new SystemClock();
  // A missing lock file means that no server has run here since a restore; taking the lock would create the file.
  const isLockable = (await fileSystem.stat(join(dataDir, LOCK_FILE))) !== undefined;
  const lock = isLockable ? await orFail(FolderLock.take(fileSystem, dataDir)) : undefined;
  try {
    await using readable = await orFail(readableStore(fileSystem, path));
    const relational = await orFail(
      openRelationalStore({ path: readable.path, clock, fileSystem, readOnly: true }),
      { readable: readable.path, path },
    );
    try {
      const root = join(dataDir, 'objects');
      const random = new SystemRandom(clock);
      const objects = await LocalObjectStore.open({ fileSystem, root, random, readOnly: true });
      // Loaded on demand: other commands do not need the service.
      const { findDamage } = await import('@plinth/tsdb');
      const tables = await findDamage({ relational, objects, fileSystem, dataDir });
      const { checkSmallFiles } = await import('@plinth/server/folder/small-files-check.js');
      const { findDamagedLines } = await import('@plinth/gamedata');
      const gameData = await findDamagedLines(objects);
      const totalBytes = tables.totalBytes + gameData.totalBytes;
      const progress = new Progress('verify', totalBytes);
      const found = await orFail(checkClosedDatabase(readable.path));
      const faults = found.map((fault) => `${path}: ${fault}`);
      const small = await checkSmallFiles({ dataDir, fileSystem, relational });
      faults.push(...small.faults);
      const notes = [...small.notes];
      const warnings = readable.loss === undefined ? [] : [warningOf(readable.loss)];
      const hints = found.length === 0 ? [] : [`\n  ${CORRUPT_HINT}`];
      for await (const file of tables.files) {
        progress.add(file.sizeBytes);
        if (file.damage !== undefined) {
          faults.push(file.damage);
          if (!hints.includes(DAMAGE_HINT)) hints.push(DAMAGE_HINT);
        }
        notes.push(...(file.notes ?? []));
        warnings.push(...(file.warnings ?? []));
      }
      for await (const { sizeBytes, damage } of gameData.files) {
        progress.add(sizeBytes);
        if (damage !== undefined) faults.push(damage);
      }
      progress.end();
      const fileCount = tables.fileCount + gameData.fileCount;
      return { faults, warnings, notes, hints, fileCount, totalBytes };
    } finally {
      await relational.close();
    }
  } finally {
    await lock?.release();
  }
}

function report(
  folder: string,
  faults: readonly string[],
  fileCount: number,
  sizeBytes: number,
  hint = '',
) {
  if (faults.length > 0) throw new CommandFailed(`${folder}:\n  ${faults.join('\n  ')}${hint}`);
  print(`${folder}: ${countOf(fileCount, 'file')}, ${sizeBytes} bytes, intact\n`);
}

const warningOf = ({ file, offset, lostBytes }: LogLoss): string =>
  `${file}: ${lostBytes} bytes at offset ${offset} contain an incomplete or corrupt last transaction, which the server ignores at the next start. If the server acknowledged it, its changes are lost. ${LOST_CHANGES_HINT}`;

/** @param copy errors name `path` instead of its copy, which is the file that was read. */
async function orFail<T>(
  opening: Promise<T>,
  copy?: { readonly readable: string; readonly path: string },
): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (storeError.is(error, 'store_corrupt')) {
      const message = copy ? error.message.replaceAll(copy.readable, copy.path) : error.message;
      throw new CommandFailed(`${message}\n  ${CORRUPT_HINT}`);
    }
    if (storeError.is(error, 'store_damaged'))
      throw new CommandFailed(`${error.message}${DAMAGE_HINT}\n  ${LOST_CHANGES_HINT}`);
    throw isDomainError(error) ? new CommandFailed(error.message) : error;
  }
}
