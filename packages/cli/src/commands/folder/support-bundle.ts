import { opendir, stat } from 'node:fs/promises';
import { availableParallelism, loadavg, release, totalmem } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fileLimit, messageOf, redactText } from '@plinth/kernel';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { readProduct } from '@plinth/server/product-version.js';
import { Command } from 'commander';
import {
  bytesOf,
  type Connection,
  call,
  connectionOf,
  failureOf,
  withConnection,
} from '../connection.js';
import { countOf } from '../output/count-of.js';
import { restrictUmask } from '../output/restrict-umask.js';
import { type TarEntry, tarOf } from '../output/tar.js';
import { print, printNote } from '../output/terminal.js';
import { PRIVATE, writeWhole } from '../output/whole-file.js';
import { checkDataFolder } from './verify.js';

/** Longer files are truncated. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_NAME_COUNT = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;

/** Responses of a running server. Log lines and queries may contain values that clients sent. */
const REQUESTS = {
  'ready.txt': 'ready',
  'health.txt': 'health',
  'metrics.txt': 'metrics',
  'info.json': 'ops/v1/info',
  'settings.json': 'ops/v1/settings',
  'logs.json': 'ops/v1/logs?limit=1000',
  'databases.json': 'ops/v1/tsdb/databases',
  'storage.json': 'ops/v1/tsdb/storage',
  'queries.json': 'ops/v1/tsdb/queries',
} as const;

const readmeOf = (items: readonly string[], note: string): string => `Support bundle of plinth.

It contains:
${['the plinth version', 'information about the machine', ...items].map((item) => `- ${item}\n`).join('')}
${note}
Known forms of passwords, tokens and keys are redacted. Read the files before you share them.
`;
const README_OF_SERVER = readmeOf(
  [
    'the settings without secrets',
    'the health status and the metrics',
    'the latest log lines and recent queries',
    'the names and sizes of databases and tables',
  ],
  'Log lines and queries can contain names, addresses and other values that your clients sent.',
);
const README_OF_FOLDER = readmeOf(
  [
    'the result of `plinth verify`',
    'the names, sizes and modification times of the files in the data folder',
  ],
  'No server was using the folder. The result can contain names of databases and tables.',
);

/** `plinth support-bundle`. */
export function supportBundleCommand(): Command {
  const command = withConnection(new Command('support-bundle'), { database: false })
    .description('collect information for a bug report, with known secrets redacted')
    .option('--out <file>', 'archive to write (default: plinth-support-TIME.tar.gz)')
    .option('--data-dir <folder>', 'data folder of a stopped server, to verify and list')
    .addHelpText(
      'after',
      '\nExamples:\n  plinth support-bundle --out bundle.tar.gz\n  plinth support-bundle --data-dir /var/lib/plinth\n\nThe settings, log lines and databases need an admin token.',
    );
  return command.action(async () => {
    restrictUmask();
    const { out, dataDir } = command.opts<{ out?: string; dataDir?: string }>();
    const nowMs = Date.now();
    const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
    const path = resolve(out ?? `plinth-support-${time}Z.tar.gz`);
    const readme = dataDir === undefined ? README_OF_SERVER : README_OF_FOLDER;
    const entries = [entryOf('README.txt', readme), entryOf('machine.json', describeMachine())];
    const parts =
      dataDir === undefined
        ? await describeServer(connectionOf(command.opts()))
        : await describeFolder(resolve(dataDir));
    entries.push(...parts);
    const archive = gzipSync(tarOf(entries, nowMs));
    await writeWhole(path, piecesOf(archive), { mode: PRIVATE });
    print(`${path}: ${countOf(entries.length, 'file')}, ${archive.byteLength} bytes\n`);
  });
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function entryOf(name: string, text: string | Uint8Array): TarEntry {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= MAX_FILE_BYTES) return { name, bytes };
  const cut = bytes.subarray(0, MAX_FILE_BYTES);
  return { name, bytes: Buffer.concat([cut, Buffer.from('\n(truncated)\n')]) };
}

const jsonOf = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

function describeMachine(): string {
  const { version: node, platform, arch } = process;
  return jsonOf({
    ...readProduct(),
    ...{ node, platform, arch, release: release(), cores: availableParallelism() },
    ...{ memoryBytes: totalmem(), load: loadavg(), fileLimit: fileLimit() },
  });
}

/** Records failed requests as part of the result, unless no server responds or the token is not an admin token. */
async function describeServer(connection: Connection): Promise<readonly TarEntry[]> {
  await assertMayCollect(connection);
  const entries: TarEntry[] = [];
  for (const [name, path] of Object.entries(REQUESTS)) {
    try {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      const response = await call(connection, path, { signal });
      if (!response.ok) printNote(`plinth: note: ${path} returned ${response.status}\n`);
      const head = response.ok ? '' : `status ${response.status}\n`;
      entries.push(entryOf(name, head + redacted((await startOf(response)).toString())));
    } catch (error) {
      printNote(`plinth: note: ${path}: ${messageOf(error)}\n`);
      entries.push(entryOf(name, `no response: ${messageOf(error)}\n`));
    }
  }
  return entries;
}

async function assertMayCollect(connection: Connection): Promise<void> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const { status, body } = await call(connection, REQUESTS['settings.json'], { signal });
  await body?.cancel();
  if (status === 401 || status === 403) {
    const advice = 'If the server cannot check tokens, stop it and use --data-dir.';
    const failure = failureOf(status, 'a support bundle requires an admin token', connection);
    throw new CommandFailed(`${failure.message}\n  ${advice}`, failure.exitCode);
  }
}

/** Replaces secrets like the log does; in JSON, within each string, so that the result is still JSON. */
function redacted(text: string): string {
  try {
    return jsonOf(
      JSON.parse(text, (_, value: unknown) =>
        typeof value === 'string' ? redactText(value) : value,
      ),
    );
  } catch {
    return redactText(text); // Prometheus metrics, or truncated JSON.
  }
}

async function startOf(response: Response): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of bytesOf(response)) {
    pieces.push(piece);
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_FILE_BYTES) break;
  }
  return Buffer.concat(pieces);
}

async function describeFolder(dataDir: string): Promise<readonly TarEntry[]> {
  const verified = await checkDataFolder(dataDir).catch((error: unknown) => messageOf(error));
  const lines: string[] = [];
  try {
    for await (const file of await opendir(dataDir, { recursive: true })) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      const at = await stat(path).catch(() => undefined);
      if (at !== undefined)
        lines.push(`${relative(dataDir, path)} ${at.size} ${at.mtime.toISOString()}`);
      if (lines.length === MAX_NAME_COUNT) break;
    }
  } catch (error) {
    throw new CommandFailed(
      `cannot read the data folder ${dataDir}: ${messageOf(error)}; use the folder in server.data_dir, and run the command as a user with read permission`,
    );
  }
  lines.sort();
  if (lines.length === MAX_NAME_COUNT) lines.push('(and more)');
  return [entryOf('verify.json', jsonOf(verified)), entryOf('files.txt', `${lines.join('\n')}\n`)];
}
