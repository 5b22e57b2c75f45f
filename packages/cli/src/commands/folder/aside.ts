import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '@plinth/server/backup/backup-folder.js';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { shellWord } from '@plinth/server/shell-word.js';
import { Command } from 'commander';
import { isJson, printJson, withFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';
import { assertMayWrite } from './may-write.js';

/** Folders to which the server moves unknown files at startup, and a repair moves corrupt files. The server never reads them. */
const FOLDERS = ['objects/tsdb-unknown', 'objects/tsdb-damaged'] as const;
/** Folders in which a repair keeps corrupt files next to their replacements: logs, and files of the relational store. */
const FOLDERS_WITH_DAMAGED_FILES = ['tsdb-log', '.'] as const;
const DAMAGED = /\.damaged$/;
/** Bytes from the end of a log file. No later start needs a file with this name. */
const TAIL = /\.tail\.damaged$/;

export function asideCommand(): Command {
  const command = withFormat(new Command('aside'))
    .description('list or remove quarantined files, even while the server is running')
    .requiredOption('--data-dir <folder>', 'data folder')
    .option('--remove', 'permanently remove the files, even if their rows exist nowhere else')
    .addHelpText(
      'after',
      '\nExamples:\n  plinth aside --data-dir ./data\n  plinth aside --data-dir ./data --remove',
    );
  return command.action(async () => {
    const dataDir = resolve(String(command.opts()['dataDir']));
    const isRemoved = command.opts()['remove'] === true;
    await assertDataFolder(dataDir);
    if (isRemoved)
      await assertMayWrite(dataDir, `plinth aside --data-dir ${shellWord(dataDir)} --remove`);
    const rows: object[] = [];
    for (const name of FOLDERS) {
      const folder = join(dataDir, name);
      const { count, sizeBytes } = await contentOf(folder);
      if (isRemoved) await rm(folder, { recursive: true, force: true });
      const done = isRemoved ? ' removed' : '';
      rows.push({ folder, count, size_bytes: sizeBytes, removed: isRemoved });
      if (!isJson(command)) print(`${folder}: ${count} files, ${sizeBytes} bytes${done}\n`);
    }
    for (const name of FOLDERS_WITH_DAMAGED_FILES) {
      for (const { path, sizeBytes } of await damagedFilesIn(join(dataDir, name))) {
        if (isRemoved) await (TAIL.test(path) ? rm(path) : replaceByEmptyFile(path));
        const done = isRemoved ? ' removed' : '';
        rows.push({ file: path, count: 1, size_bytes: sizeBytes, removed: isRemoved });
        if (!isJson(command)) print(`${path}: ${sizeBytes} bytes${done}\n`);
      }
    }
    if (isJson(command)) printJson(rows);
  });
}

/**
 * Replaces the file with an empty one. At later starts, its name shows that records before the next log file are lost.
 * The file itself is not truncated, because the server uses the same file after an interrupted repair or restore.
 */
async function replaceByEmptyFile(path: string): Promise<void> {
  const part = `${path}.part`;
  await (await open(part, 'w', 0o600)).close();
  await rename(part, path);
  await syncFolder(dirname(path));
}

async function assertDataFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: Error) => {
    throw new CommandFailed(`${folder} cannot be read: ${error.message}`);
  });
  if (!names.includes('objects'))
    throw new CommandFailed(`${folder} is not a data folder: objects/ is missing`);
}

/** Returns corrupt files in `folder` itself. Skips files that were removed earlier, which are now empty. */
async function damagedFilesIn(
  folder: string,
): Promise<readonly { readonly path: string; readonly sizeBytes: number }[]> {
  const names = await namesIn(folder);
  const paths = names.filter((name) => DAMAGED.test(name)).map((name) => join(folder, name));
  const found = [];
  for (const path of paths.sort()) {
    const { size } = await lstat(path);
    if (size > 0) found.push({ path, sizeBytes: size });
  }
  return found;
}

/** Returns an empty list if the folder does not exist. */
async function namesIn(folder: string, recursive = false): Promise<readonly string[]> {
  return await readdir(folder, { recursive }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CommandFailed(`${folder} cannot be read: ${error.message}`);
  });
}

async function contentOf(folder: string): Promise<{ count: number; sizeBytes: number }> {
  let count = 0;
  let sizeBytes = 0;
  for (const name of await namesIn(folder, true)) {
    const stat = await lstat(join(folder, name));
    if (stat.isDirectory()) continue;
    count++;
    sizeBytes += stat.size;
  }
  return { count, sizeBytes };
}
