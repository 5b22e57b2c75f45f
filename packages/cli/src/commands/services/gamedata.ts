import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { callOk, connectionOf, withConnection } from '../connection.js';
import { countOf } from '../output/count-of.js';
import { printOne, printRows, withFormat } from '../output/listing.js';
import { print } from '../output/terminal.js';

const EXAMPLES = `
Examples:
  plinth gamedata generate --seed 7 --scale 10 --out world.json
  plinth gamedata import world.json --mode replace --publish
  plinth gamedata import --format tarkovdata ./tarkovdata --dry-run
  plinth gamedata import --format tarkovdata ./tarkovdata.git@main --publish
  plinth gamedata validate
  plinth gamedata publish --message "new season prices"
  plinth gamedata export --out backup.json
  plinth gamedata restore 12

A native import with broken references is rejected, unless --repair removes the references.
Imports of community files always remove them and list each one.`;

const MAX_GIT_OUTPUT_BYTES = 256 * 1024 * 1024;
const FILE =
  /^(items\.[A-Za-z-]+|ammunition|traders|maps|quests|hideout|item_presets|levels|storyline)\.json$/;

export function gamedataCommand(): Command {
  return new Command('gamedata')
    .description('generate, import, export, validate and publish game data')
    .addHelpText('after', EXAMPLES)
    .addCommand(generateCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(validateCommand())
    .addCommand(publishCommand())
    .addCommand(versionsCommand())
    .addCommand(restoreCommand())
    .addCommand(tokenCommand());
}

const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Use an integer from ${min} to ${max}.`);
  };

const withServer = (name: string): Command =>
  withConnection(new Command(name), { database: false });

const formatOption = (): Option =>
  new Option('--format <format>', 'layout of the data')
    .choices(['native', 'tarkovdata'])
    .default('native');

/** Far more than a server accepts. Prevents a typing error from filling the disk. */
const MAX_SAMPLE_SCALE = 2500;

function generateCommand(): Command {
  const command = new Command('generate')
    .description('generate a sample data set (no server required)')
    .option(
      '--seed <number>',
      'random seed; the same seed generates the same data',
      wholeNumber(0, 4_294_967_295),
      1,
    )
    .option(
      '--scale <number>',
      'factor for the number of records',
      wholeNumber(1, MAX_SAMPLE_SCALE),
      1,
    )
    .option('--out <file>', 'output file (default: standard output)');
  return command.action(async () => {
    const { seed, scale, out } = command.opts<{ seed: number; scale: number; out?: string }>();
    const { writeSample } = await import('@plinth/gamedata');
    const text = Readable.from(writeSample({ seed, scale }));
    if (out === undefined) await pipeline(text, process.stdout, { end: false });
    else await pipeline(text, createWriteStream(out));
  });
}

interface ImportFlags {
  readonly format: string;
  readonly mode: string;
  readonly dryRun?: boolean;
  readonly publish?: boolean;
  readonly repair?: boolean;
  readonly overlay?: boolean;
}

function importCommand(): Command {
  const command = withServer('import')
    .description('import a data set as a draft, and optionally publish it')
    .argument('<source>', 'file, folder, or bare git folder with an optional @ref')
    .addOption(formatOption())
    .addOption(
      new Option('--mode <mode>', 'merge by id, or replace everything')
        .choices(['merge', 'replace'])
        .default('merge'),
    )
    .option('--dry-run', 'report changes without importing')
    .option('--publish', 'publish the imported data')
    .option('--repair', 'remove broken references instead of rejecting the import')
    .option('--overlay', 'reapply manual edits made since the last import');
  return command.action(async (source: string) => {
    const flags = command.opts<ImportFlags>();
    const data = flags.format === 'native' ? await readJson(source) : await readTarkovData(source);
    const response = await callOk(connectionOf(command.opts()), 'api/editor/import', {
      json: data,
      query: {
        format: flags.format,
        mode: flags.mode,
        dryRun: String(flags.dryRun ?? false),
        publish: String(flags.publish ?? false),
        // Community files contain many small faults, each with a warning.
        strict: String(flags.format === 'native' && !(flags.repair ?? false)),
        overlay: String(flags.overlay ?? false),
      },
    });
    report(Object(await response.json()));
  });
}

interface ImportReply {
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: Readonly<Record<string, number>>;
  readonly published: boolean;
  readonly version: number;
  readonly dryRun: boolean;
  readonly warnings: {
    readonly total: number;
    readonly byCode: Readonly<Record<string, number>>;
    readonly sample: readonly { file?: string; path: string; code: string; message: string }[];
  };
}

function report({ counts, changes, warnings, published, version, dryRun }: ImportReply): void {
  const list = (values: Readonly<Record<string, number>>): string =>
    Object.entries(values)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none';
  const result = published ? `published as version ${version}` : 'kept as a draft';
  const lines = [
    `records    ${list(counts)}`,
    `changes    ${list(changes)}`,
    `warnings   ${list(warnings.byCode)}`,
    ...warnings.sample.map(({ file = '', path, message }) => `  ${file}${path}: ${message}`),
    ...(warnings.total > warnings.sample.length
      ? [`  and ${warnings.total - warnings.sample.length} more`]
      : []),
    dryRun ? 'dry run: nothing was changed' : result,
  ];
  print(`${lines.join('\n')}\n`);
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`cannot read ${file}: ${error instanceof Error ? error.message : ''}`);
  }
}

/** Reads the files of a folder, of its `data` folder, or of a commit in a bare repository. */
async function readTarkovData(source: string): Promise<Record<string, unknown>> {
  const at = source.lastIndexOf('@');
  const [path, ref] = at > 0 ? [source.slice(0, at), source.slice(at + 1)] : [source, 'HEAD'];
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) throw new CommandFailed(`path not found: ${path}`, EXIT.usage);
  if (info.isFile()) return Object(await readJson(path));
  const names = await readdir(path);
  const isBare = names.includes('objects') && names.includes('HEAD');
  const files = isBare ? await readCommit(path, ref) : await readFolder(path, names);
  if (Object.keys(files).length === 0)
    throw new CommandFailed(
      `${path} contains no tarkovdata files, such as quests.json or hideout.json`,
    );
  return files;
}

async function readFolder(
  path: string,
  names: readonly string[],
): Promise<Record<string, unknown>> {
  const folder =
    !names.some((name) => FILE.test(name)) && names.includes('data') ? join(path, 'data') : path;
  const files: Record<string, unknown> = {};
  for (const name of await readdir(folder)) {
    if (FILE.test(name)) files[name] = await readJson(join(folder, name));
  }
  return files;
}

async function readCommit(gitDir: string, ref: string): Promise<Record<string, unknown>> {
  const git = async (...args: string[]): Promise<string> => {
    const options = { maxBuffer: MAX_GIT_OUTPUT_BYTES };
    const { stdout } = await promisify(execFile)('git', ['--git-dir', gitDir, ...args], options);
    return stdout;
  };
  try {
    const paths = (await git('ls-tree', '-r', '--name-only', '--end-of-options', ref)).split('\n');
    const known = paths.filter(
      (name) => FILE.test(basename(name)) && /^(data\/)?[^/]+$/.test(name),
    );
    // Newer repositories keep the same files in `data`.
    const inData = known.filter((name) => name.startsWith('data/'));
    const files: Record<string, unknown> = {};
    for (const name of inData.length > 0 ? inData : known) {
      files[basename(name)] = JSON.parse(await git('show', `${ref}:${name}`));
    }
    return files;
  } catch (error) {
    throw new CommandFailed(
      `cannot read revision ${ref} of ${gitDir}: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

function exportCommand(): Command {
  const command = withServer('export')
    .description('export the complete data set')
    .addOption(formatOption())
    .option('--out <file>', 'output file (default: standard output)')
    .option('--drafts', 'include unpublished changes')
    .option(
      '--version-number <n>',
      'version to export (default: the latest)',
      wholeNumber(1, 2_147_483_647),
    );
  return command.action(async () => {
    const { format, out, drafts, versionNumber } = command.opts<{
      format: string;
      out?: string;
      drafts?: boolean;
      versionNumber?: number;
    }>();
    const response = await callOk(connectionOf(command.opts()), 'api/editor/export', {
      query: {
        format,
        drafts: String(drafts ?? false),
        ...(versionNumber !== undefined && { version: String(versionNumber) }),
      },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (out === undefined && process.stdout.isTTY) print(bytes.toString());
    else if (out === undefined) process.stdout.write(bytes);
    else await writeFile(out, bytes);
  });
}

function validateCommand(): Command {
  const command = withFormat(withServer('validate')).description('validate the draft');
  return command.action(async () => {
    const response = await callOk(connectionOf(command.opts()), 'api/editor/validate');
    const { valid, errors } = Object(await response.json()) as {
      valid: boolean;
      errors: readonly { type: string; id: string; path: string; message: string }[];
    };
    printOne(command, { valid, errors }, () =>
      valid
        ? 'the draft is valid\n'
        : errors
            .map(({ type, id, path, message }) => `${type} ${id} ${path}: ${message}\n`)
            .join(''),
    );
    if (!valid) throw new CommandFailed(`the draft has ${countOf(errors.length, 'error')}`);
  });
}

function publishCommand(): Command {
  const command = withServer('publish')
    .description('publish the draft, or only one record type')
    .argument('[type]', 'record type: items, quests, itemPresets, ...')
    .option('--message <text>', 'description of the version', '');
  return command.action(async (type: string | undefined) => {
    const { message } = command.opts<{ message: string }>();
    const path =
      type === undefined ? 'api/editor/save' : `api/editor/save/${encodeURIComponent(type)}`;
    const response = await callOk(connectionOf(command.opts()), path, { json: { message } });
    const { version, changed } = Object(await response.json());
    print(`version ${version}, ${countOf(Number(changed), 'record')} changed\n`);
  });
}

function versionsCommand(): Command {
  const command = withFormat(withServer('versions')).description('list published versions');
  return command.action(async () => {
    const response = await callOk(connectionOf(command.opts()), 'api/versions');
    const { versions } = Object(await response.json()) as { versions: readonly object[] };
    printRows(command, versions as readonly Record<string, unknown>[], [
      'version',
      'publishedAt',
      'actor',
      'message',
    ]);
  });
}

function restoreCommand(): Command {
  const command = withServer('restore')
    .description('publish an older version again')
    .argument('<version>', 'version number', wholeNumber(1, 2_147_483_647));
  return command.action(async (number: number) => {
    const path = `api/editor/versions/${number}/restore`;
    const response = await callOk(connectionOf(command.opts()), path, { method: 'POST' });
    const { version } = Object(await response.json());
    print(`version ${version} published with the data of version ${number}\n`);
  });
}

function tokenCommand(): Command {
  const command = new Command('token')
    .description('create an editor token (no server required)')
    .argument('<name>', 'name of the token holder')
    .option('--scopes <list>', 'scopes joined by +: read, write, publish, admin', 'read+write');
  return command.action((name: string) => {
    const { scopes } = command.opts<{ scopes: string }>();
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name))
      throw new CommandFailed(
        `invalid name "${name}"; use 1 to 64 letters, digits, underscores, periods or hyphens`,
        EXIT.usage,
      );
    if (!/^(read|write|publish|admin)(\+(read|write|publish|admin))*$/.test(scopes))
      throw new CommandFailed(
        `invalid scopes "${scopes}"; use one or more of read, write, publish and admin, joined by +`,
        EXIT.usage,
      );
    const token = `gd_${randomBytes(24).toString('base64url')}`;
    const hash = createHash('sha256').update(token).digest('hex');
    print(`token      ${token}\nsetting    --gamedata-tokens ${name}:${hash}:${scopes}\n`);
  });
}
