import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import {
  makeEmptyFolder,
  readManifest,
  removeCreated,
  reserveEmptyFolder,
  syncFolders,
  writeChecked,
  writeManifest,
} from '@plinth/server/backup/backup-folder.js';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { Command, InvalidArgumentError } from 'commander';
import {
  bytesOf,
  type Connection,
  call,
  callOk,
  connectionOf,
  errorTextOf,
  failureOf,
  requireOk,
  withConnection,
} from '../connection.js';
import { countOf } from '../output/count-of.js';
import { printLeftOut } from '../output/left-out.js';
import { Progress } from '../output/progress.js';
import { restrictUmask } from '../output/restrict-umask.js';
import { print, printNote } from '../output/terminal.js';

const BACKUPS = 'ops/v1/backups';
const CONCURRENCY = 4;
/** Part of the server's message about too many backups. The command does not wait after a 503 with another cause. */
const BUSY = 'too many backups';

export function backupCommand(): Command {
  const command = withConnection(new Command('backup'), { database: false })
    .description('create a consistent backup of a running server')
    .requiredOption('--to <folder>', 'new or empty folder')
    .option('--wait <seconds>', 'maximum wait for other backups, 0 to 86400', toSeconds, 600)
    .addHelpText(
      'after',
      '\nExample:\n  plinth backup --to /backups/monday\n\nThe backup contains server secrets: protect it like the data folder.',
    );
  return command.action(async () => {
    restrictUmask(); // The backup contains secrets.
    const folder = resolve(String(command.opts()['to']));
    let created = await makeEmptyFolder(folder);
    let release = async (): Promise<void> => {};
    const connection = connectionOf(command.opts());
    // The server keeps the files while the response is open. Aborting the request always releases them.
    const holding = new AbortController();
    const { signal } = holding;
    try {
      const waitMs = Number(command.opts()['wait']) * 1000;
      const lines = linesOf(
        await begin(connection, {
          ...{ signal, waitMs },
          onWait: () => removeCreated(folder, created), // The user may interrupt the command.
        }),
      );
      // Another backup may have used the folder in the meantime.
      created = (await makeEmptyFolder(folder)) ?? created;
      release = await reserveEmptyFolder(folder);
      const { value: first } = await lines.next();
      const manifest = readManifest(first ?? '', 'the server response');
      const ended = endOf(lines);
      await Promise.race([copyFiles(connection, manifest, { folder, signal }), ended]);
      await release();
      await syncFolders(folder, manifest.files);
      await writeManifest(folder, manifest);
      const totalBytes = manifest.files.reduce((sum, file) => sum + file.size_bytes, 0);
      print(`${folder}: ${countOf(manifest.files.length, 'file')}, ${totalBytes} bytes\n`);
      printLeftOut(manifest);
    } catch (error) {
      await release();
      await removeCreated(folder, created); // Removes the folder only if nothing was copied.
      throw error;
    } finally {
      holding.abort();
    }
  });
}

/** Starts the backup. While too many others are in progress, it retries for `waitMs`. */
async function begin(
  connection: Connection,
  {
    signal,
    waitMs,
    onWait,
  }: {
    readonly signal: AbortSignal;
    readonly waitMs: number;
    readonly onWait: () => Promise<void>;
  },
): Promise<Response> {
  const deadlineMs = performance.now() + waitMs;
  let isNoted = false;
  for (;;) {
    const response = await call(connection, BACKUPS, { method: 'POST', signal });
    if (response.status !== 503) return await requireOk(response, connection);
    const message = errorTextOf(await response.text());
    const retryMs = Number(response.headers.get('retry-after') ?? 1) * 1000;
    const isBusy = message.includes(BUSY) && performance.now() + retryMs <= deadlineMs;
    if (!isBusy) throw failureOf(response.status, message, connection);
    if (!isNoted) {
      await onWait();
      printNote(`plinth: waiting: ${message}\n`);
    }
    isNoted = true;
    await setTimeout(retryMs);
  }
}

function toSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 86_400) return Number(text);
  throw new InvalidArgumentError('Use an integer from 0 to 86400.');
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  yield* createInterface({ input: Readable.from(bytesOf(response)) });
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
      const response = await callOk(connection, `${BACKUPS}/${id}/file`, { query, signal });
      const pieces = bytesOf(response);
      await writeChecked(join(folder, file.name), pieces, file, (size) => progress.add(size));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, copyNext));
  progress.end();
}
