import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import {
  makeEmptyFolder,
  readManifest,
  syncFolders,
  writeChecked,
  writeManifest,
} from '@plinth/server/backup/backup-folder.js';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import { bytesOf, type Connection, callOk, connectionOf, withConnection } from '../connection.js';
import { keepToItself } from '../output/keep-to-itself.js';
import { printLeftOut } from '../output/left-out.js';
import { Progress } from '../output/progress.js';
import { print } from '../output/terminal.js';

const BACKUPS = 'ops/v1/backups';
const CONCURRENCY = 4;

/** `plinth backup`. */
export function backupCommand(): Command {
  const command = withConnection(new Command('backup'), { database: false })
    .description('create a consistent backup of a running server')
    .requiredOption('--to <folder>', 'new or empty folder')
    .addHelpText(
      'after',
      '\nExample:\n  plinth backup --to /backups/monday\n\nThe backup contains server secrets: protect it like the data folder.',
    );
  return command.action(async () => {
    keepToItself(); // The backup contains secrets.
    const folder = resolve(String(command.opts()['to']));
    await makeEmptyFolder(folder);
    const connection = connectionOf(command.opts());
    // The server keeps the files while the response stays open; aborting it releases them in every case.
    const holding = new AbortController();
    const { signal } = holding;
    const answer = await callOk(connection, BACKUPS, { method: 'POST', signal });
    const lines = linesOf(answer);
    try {
      const { value: first } = await lines.next();
      const manifest = readManifest(first ?? '', 'the response of the server');
      const ended = endOf(lines);
      await Promise.race([copyFiles(connection, manifest, { folder, signal }), ended]);
      await syncFolders(folder, manifest.files);
      await writeManifest(folder, manifest);
      const totalBytes = manifest.files.reduce((sum, file) => sum + file.size_bytes, 0);
      print(`${folder}: ${manifest.files.length} files, ${totalBytes} bytes\n`);
      printLeftOut(manifest);
    } finally {
      holding.abort();
    }
  });
}

async function* linesOf(answer: Response): AsyncGenerator<string> {
  yield* createInterface({ input: Readable.from(bytesOf(answer)) });
}

/** Rejects when the server ends the backup. Never resolves. */
async function endOf(lines: AsyncGenerator<string>): Promise<never> {
  for await (const _signOfLife of lines);
  throw new CommandFailed(
    'the server stopped the backup before it was complete; run the command again',
  );
}

async function copyFiles(
  connection: Connection,
  { id, files }: ReturnType<typeof readManifest>,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<void> {
  const progress = new Progress(
    'backup',
    files.reduce((sum, file) => sum + file.size_bytes, 0),
  );
  const waiting = [...files];
  const copyNext = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const query = { name: file.name };
      const answer = await callOk(connection, `${BACKUPS}/${id}/file`, { query, signal });
      const pieces = bytesOf(answer);
      await writeChecked(join(folder, file.name), pieces, file, (size) => progress.add(size));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, copyNext));
  progress.end();
}
