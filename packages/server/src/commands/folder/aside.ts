import { lstat, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { CommandFailed } from '../output/exit.js';
import { isJson, printJson, withFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';

/** Where a start puts what it does not know, and a repair what is damaged. The server never reads them. */
const FOLDERS = ['objects/tsdb-unknown', 'objects/tsdb-damaged'] as const;

/** `plinth aside`. */
export function asideCommand(): Command {
  const command = withFormat(new Command('aside'))
    .description(
      'list stored files that a start has moved aside, or remove them; a server may run on the folder',
    )
    .requiredOption('--data-dir <folder>', 'the data folder')
    .option('--remove', 'remove them for good: rows that only they have are lost')
    .addHelpText(
      'after',
      '\nExamples:\n  plinth aside --data-dir ./data\n  plinth aside --data-dir ./data --remove',
    );
  return command.action(async () => {
    const dataDir = resolve(String(command.opts()['dataDir']));
    const isRemoved = command.opts()['remove'] === true;
    await assertDataFolder(dataDir);
    const rows: object[] = [];
    for (const name of FOLDERS) {
      const folder = join(dataDir, name);
      const { count, sizeBytes } = await contentOf(folder);
      if (isRemoved) await rm(folder, { recursive: true, force: true });
      const done = isRemoved ? ' removed' : '';
      rows.push({ folder, count, size_bytes: sizeBytes, removed: isRemoved });
      if (!isJson(command)) print(`${folder}: ${count} files, ${sizeBytes} bytes${done}\n`);
    }
    if (isJson(command)) printJson(rows);
  });
}

async function assertDataFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: Error) => {
    throw new CommandFailed(`${folder} cannot be read: ${error.message}`);
  });
  if (!names.includes('objects'))
    throw new CommandFailed(`${folder} is no data folder: it has no objects/`);
}

async function contentOf(folder: string): Promise<{ count: number; sizeBytes: number }> {
  let count = 0;
  let sizeBytes = 0;
  const names = await readdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CommandFailed(`${folder} cannot be read: ${error.message}`);
  });
  for (const name of names) {
    const stat = await lstat(join(folder, name));
    if (stat.isDirectory()) continue;
    count++;
    sizeBytes += stat.size;
  }
  return { count, sizeBytes };
}
