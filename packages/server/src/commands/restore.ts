import { createReadStream } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FolderLock, isDomainError, NodeFileSystem } from '@plinth/kernel';
import { Command } from 'commander';
import {
  type Manifest,
  makeEmptyFolder,
  readBackup,
  removeWritten,
  writeChecked,
} from './backup-folder.js';
import { CommandFailed } from './exit.js';
import { keepToItself } from './keep-to-itself.js';
import { Progress } from './progress.js';

/** `plinth restore`. */
export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('make a data folder from a backup; no server needs to run')
    .requiredOption('--from <folder>', 'the backup')
    .requiredOption('--data-dir <folder>', 'a new or empty folder')
    .addHelpText(
      'after',
      '\nExample:\n  plinth restore --from /backups/monday --data-dir ./data\n  plinth serve --data-dir ./data',
    );
  return command.action(async () => {
    keepToItself();
    const from = resolve(String(command.opts()['from']));
    const to = resolve(String(command.opts()['dataDir']));
    const manifest = await readBackup(from);
    await makeEmptyFolder(to);
    const lock = await lockFolder(to);
    try {
      await makeEmptyFolder(to); // A server may have begun in it meanwhile, and have ended.
      await lock.sign();
      await copyAll({ manifest, from, to });
    } finally {
      // Also after a failure the lock's file stays, and with it a new folder: a second try takes it for empty.
      await lock.release();
    }
    process.stdout.write(`${to}: as of ${manifest.created_at}\n`);
  });
}

async function lockFolder(folder: string): Promise<FolderLock> {
  try {
    return await FolderLock.take(new NodeFileSystem(), folder);
  } catch (error) {
    throw isDomainError(error) ? new CommandFailed(error.message) : error;
  }
}

/** All files, or none of them. */
async function copyAll(at: {
  readonly manifest: Manifest;
  readonly from: string;
  readonly to: string;
}): Promise<void> {
  const { manifest, from, to } = at;
  const progress = new Progress(
    'restore',
    manifest.files.reduce((sum, file) => sum + file.size_bytes, 0),
  );
  // The catalog last: a folder without it is one in which nothing was ever written.
  const files = manifest.files.toSorted((a, b) => Number(isCatalog(a)) - Number(isCatalog(b)));
  const begun: string[] = [];
  try {
    for (const file of files) {
      begun.push(file.name);
      const pieces = piecesOf(await plainFile(from, file.name));
      await writeChecked(join(to, file.name), pieces, file, (size) => progress.add(size));
    }
  } catch (error) {
    await removeWritten(to, begun);
    throw error;
  }
  progress.end();
}

/**
 * Path of a file that lies in the backup itself: a link on the way would bring in what the backup never held, and what is
 * no file may never end.
 */
async function plainFile(from: string, name: string): Promise<string> {
  const path = join(from, name);
  try {
    const isDirect = (await realpath(path)) === join(await realpath(from), name);
    if (isDirect && (await lstat(path)).isFile()) return path;
  } catch (error) {
    throw new CommandFailed(`cannot read ${path}: ${(error as Error).message}`);
  }
  throw new CommandFailed(`${path} is a link, leads over one, or is no file; a backup has neither`);
}

/** Opened when it is read: what a stream says earlier, such as that there is no file, would end the process. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path) as AsyncIterable<Uint8Array>; // no encoding is set
  } catch (error) {
    throw new CommandFailed(`cannot read ${path}: ${(error as Error).message}`);
  }
}

const isCatalog = ({ name }: { readonly name: string }): boolean => name === 'plinth.db';
