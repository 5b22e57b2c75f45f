import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { crc32c, FOLDER_LOCK_FILES } from '@plinth/kernel';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { RESTORE_MARKER } from '../folder/data-folder.js';
import { STORE_FILE } from '../folder/file-names.js';
import { CommandFailed, cannotWrite } from '../process/command-failed.js';
import { BACKUP_HINT } from '../process/hints.js';
import { BACKUP_FORMAT_VERSION } from './backup-format.js';

const MANIFEST = 'backup.json';
/** Files that the commands themselves create in a folder. */
const OWN_NAMES: readonly string[] = [MANIFEST, RESTORE_MARKER, ...FOLDER_LOCK_FILES];
/** Backups contain secrets of the node, so only its user can read them. */
const FILE_MODE = 0o600;

const Manifest = Type.Object({
  format_version: Type.Integer(),
  id: Type.String(),
  created_at: Type.String(),
  folder_id: Type.Optional(Type.String()), // none in backups of earlier releases
  left_out: Type.Optional(Type.Array(Type.String())), // none in format 1
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      size_bytes: Type.Integer({ minimum: 0 }),
      crc32c: Type.Integer({ minimum: 0 }),
    }),
  ),
});
export type Manifest = Type.Static<typeof Manifest>;

/** A complete manifest, which no longer changes. */
type WrittenManifest = Omit<Readonly<Manifest>, 'files' | 'left_out'> & {
  readonly left_out?: readonly string[];
  readonly files: readonly Readonly<Manifest['files'][number]>[];
};

/** Throws `CommandFailed` for a manifest that this release cannot read. */
export function readManifest(text: string, where: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandFailed(`${where} is corrupt: not valid JSON${BACKUP_HINT}`);
  }
  const version: unknown = Reflect.get(Object(value), 'format_version');
  if (typeof version === 'number' && version > BACKUP_FORMAT_VERSION) {
    throw new CommandFailed(
      `${where} uses backup format ${version}, but this release supports at most ${BACKUP_FORMAT_VERSION}; use a newer release`,
    );
  }
  if (!Check(Manifest, value)) throw new CommandFailed(`${where} is corrupt${BACKUP_HINT}`);
  const fault = faultOf(value);
  if (fault !== undefined) throw new CommandFailed(`${where} ${fault}`);
  return value;
}

/** Returns the problem with the file names; `undefined` if they are valid. */
function faultOf({ files }: Manifest): string | undefined {
  const names = new Set<string>();
  const folders = new Set<string>();
  for (const { name } of files) {
    if (!isPathWithin(name)) return `names a file outside of the backup: ${name}`;
    if (OWN_NAMES.includes(name)) return `names a file that is not part of a backup: ${name}`;
    if (names.has(name)) return `names the same file twice: ${name}`;
    names.add(name);
    for (let at = dirname(name); at !== '.'; at = dirname(at)) folders.add(at);
  }
  const both = [...names].find((name) => folders.has(name));
  if (both !== undefined) return `names a file that is also a folder: ${both}`;
  return names.has(STORE_FILE) ? undefined : `is not a server backup: ${STORE_FILE} is missing`;
}

function isPathWithin(name: string): boolean {
  for (const char of name) if (char === '\\' || char < ' ' || char === '\x7f') return false;
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/**
 * Writes the digest and description of a backup as one file. It is written last, so that a backup without it is
 * not complete.
 */
export async function writeManifest(folder: string, manifest: WrittenManifest): Promise<void> {
  const sha256 = digestOf(manifest);
  const bytes = Buffer.from(`${JSON.stringify({ ...manifest, sha256 }, null, 2)}\n`);
  const path = join(folder, MANIFEST);
  const part = `${path}.part`;
  await writeContent(part, [bytes]);
  await rename(part, path);
  await syncFolder(folder);
}

export async function readBackup(folder: string): Promise<Manifest> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of piecesOf(folder, MANIFEST)) pieces.push(piece);
  } catch (error) {
    throw new CommandFailed(
      `${folder} is not a complete backup: ${(error as Error).message}${BACKUP_HINT}`,
    );
  }
  const text = Buffer.concat(pieces).toString();
  const manifest = readManifest(text, join(folder, MANIFEST));
  const { sha256, ...rest } = JSON.parse(text) as Manifest & { readonly sha256?: unknown };
  if (sha256 !== digestOf(rest))
    throw new CommandFailed(`${join(folder, MANIFEST)} is corrupt${BACKUP_HINT}`);
  return manifest;
}

/**
 * Creates the folder. Returns the first folder that was created, possibly one of its parents; `undefined` if it exists.
 * Throws unless it contains only lock files or files that `isOwn` allows it to remove.
 */
export async function makeEmptyFolder(
  folder: string,
  isOwn: (names: readonly string[]) => boolean = () => false,
): Promise<string | undefined> {
  const fail = (error: Error): never => {
    throw new CommandFailed(
      `the folder ${folder} cannot be created or read: ${error.message}; use another folder, or fix its permissions`,
    );
  };
  const created = await mkdir(folder, { recursive: true }).catch(fail);
  const all = await readdir(folder).catch(fail);
  const names = all.filter((name) => !FOLDER_LOCK_FILES.includes(name));
  if (names.length > 0 && !isOwn(names)) {
    throw new CommandFailed(`${folder} is not empty; use an empty or a new folder`);
  }
  return created;
}

const RESERVED_NAME = '.plinth-backup-in-progress';

/**
 * Reserves the folder for one backup, so that a second one to the same folder fails. The result releases it, and must be
 * called before the manifest is written.
 */
export async function reserveEmptyFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, RESERVED_NAME);
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw cannotWrite(path, error);
    throw new CommandFailed(`${folder} is not empty; use an empty or a new folder`);
  });
  await file.close();
  return () => rm(path, { force: true });
}

/** Removes empty folders from `folder` up to `created`, as returned by `makeEmptyFolder`. */
export async function removeCreated(folder: string, created: string | undefined): Promise<void> {
  if (created === undefined) return;
  const at = resolve(folder);
  const removed = await rmdir(at).then(
    () => true,
    () => false, // Not empty.
  );
  if (removed && at !== resolve(created)) await removeCreated(dirname(at), created);
}

/** Keeps lock files. */
export async function emptyFolder(folder: string, except: readonly string[]): Promise<void> {
  const retained = [...FOLDER_LOCK_FILES, ...except];
  for (const name of await readdir(folder)) {
    if (!retained.includes(name)) await rm(join(folder, name), { recursive: true });
  }
}

/**
 * Writes a file durably (its name is durable once `syncFolders` resolves), and checks size and checksum.
 * @throws `CommandFailed` if they differ.
 */
export async function writeChecked(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  expected: Manifest['files'][number],
  onPiece: (sizeBytes: number) => void,
): Promise<void> {
  const counted = async function* () {
    for await (const piece of checked(pieces, expected)) {
      onPiece(piece.byteLength);
      yield piece;
    }
  };
  await writeContent(path, counted());
}

/** A file of a backup is missing, incomplete or corrupt. */
export class BackupCorrupt extends CommandFailed {}

/** Throws `BackupCorrupt` after the last piece if size or checksum differ. */
export async function* checked(
  pieces: AsyncIterable<Uint8Array>,
  expected: Manifest['files'][number],
): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0;
  let sum = 0;
  for await (const piece of pieces) {
    sizeBytes += piece.byteLength;
    sum = crc32c([piece], sum);
    yield piece;
  }
  if (sizeBytes !== expected.size_bytes) {
    const { name, size_bytes } = expected;
    throw new BackupCorrupt(`${name} is incomplete: ${sizeBytes} of ${size_bytes} bytes`);
  }
  if (sum !== expected.crc32c) {
    throw new BackupCorrupt(`${expected.name} is corrupt: checksum mismatch`);
  }
}

/** Yields the content of a file of a backup, which is opened when it is read. Throws `CommandFailed`. */
export async function* piecesOf(backup: string, name: string): AsyncGenerator<Uint8Array> {
  const path = join(backup, name);
  try {
    if (!(await isPlainFile(backup, name))) {
      throw new CommandFailed(
        `${path} is a link, is reached through a link, or is not a regular file; a backup must contain only regular files`,
      );
    }
    yield* createReadStream(path) as AsyncIterable<Uint8Array>; // no encoding is set
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new BackupCorrupt(`cannot read ${path}: ${(error as Error).message}`);
  }
}

/** A link could add foreign files to the backup, and reading a device or pipe might never end. */
async function isPlainFile(backup: string, name: string): Promise<boolean> {
  const path = join(backup, name);
  const isDirect = (await realpath(path)) === join(await realpath(backup), name);
  return isDirect && (await lstat(path)).isFile();
}

async function writeContent(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const fail = (error: unknown): never => {
    throw cannotWrite(path, error);
  };
  await mkdir(dirname(path), { recursive: true }).catch(fail);
  const file = await open(path, 'w', FILE_MODE).catch(fail);
  try {
    for await (const piece of pieces) await file.writeFile(piece).catch(fail);
    await file.sync().catch(fail);
  } finally {
    await file.close();
  }
}

/** Makes the names of all files and folders below `folder` durable. */
export async function syncFolders(
  folder: string,
  files: readonly { readonly name: string }[],
): Promise<void> {
  const folders = new Set<string>();
  for (const { name } of files) {
    for (let at = dirname(name); at !== '.'; at = dirname(at)) folders.add(at);
  }
  for (const each of [...folders, '.']) await syncFolder(join(folder, each));
}

/** Makes added and removed names of the folder durable. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot sync folders.
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function digestOf(manifest: WrittenManifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
