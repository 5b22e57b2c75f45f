import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32c, FOLDER_LOCK_FILES } from '@plinth/kernel';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { BACKUP_FORMAT_VERSION } from '../backup/backup-format.js';
import { CommandFailed } from './exit.js';

const MANIFEST = 'backup.json';
/** Secrets of the node are for its own user only. */
const FILE_MODE = 0o600;

const Manifest = Type.Object({
  format_version: Type.Integer(),
  id: Type.String(),
  created_at: Type.String(),
  has_external_database: Type.Boolean(),
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      size_bytes: Type.Integer({ minimum: 0 }),
      crc32c: Type.Integer({ minimum: 0 }),
    }),
  ),
});
export type Manifest = Type.Static<typeof Manifest>;

/** Throws `CommandFailed` for what is not the description of a backup that this release can read. */
export function readManifest(text: string, where: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandFailed(`${where} is damaged: it is no JSON`);
  }
  const version: unknown = Reflect.get(Object(value), 'format_version');
  if (typeof version === 'number' && version > BACKUP_FORMAT_VERSION) {
    throw new CommandFailed(`${where} has format ${version}, which this release does not know`);
  }
  if (!Check(Manifest, value)) throw new CommandFailed(`${where} is damaged`);
  for (const { name } of value.files) {
    if (!/^[\w.-]+(?:\/[\w.-]+)*$/.test(name) || name.split('/').includes('..')) {
      throw new CommandFailed(`${where} names a file outside of the backup: ${name}`);
    }
  }
  return value;
}

/** Digest and description of a backup as one file; written last, so that a backup without it is not complete. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const sha256 = digestOf(manifest);
  const bytes = Buffer.from(`${JSON.stringify({ ...manifest, sha256 }, null, 2)}\n`);
  await writeFile(join(folder, MANIFEST), [bytes]);
}

export async function readBackup(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8');
  } catch {
    throw new CommandFailed(`${folder} is no complete backup: it has no ${MANIFEST}`);
  }
  const manifest = readManifest(text, join(folder, MANIFEST));
  const { sha256, ...rest } = JSON.parse(text) as Manifest & { readonly sha256?: unknown };
  if (sha256 !== digestOf(rest)) throw new CommandFailed(`${join(folder, MANIFEST)} is damaged`);
  return manifest;
}

/** Makes the folder; throws unless it holds nothing but the files of a lock. */
export async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).some((name) => !FOLDER_LOCK_FILES.includes(name))) {
    throw new CommandFailed(`${folder} is not empty; name a folder that is, or a new one`);
  }
}

/** Takes away files that `writeChecked` wrote, whole or in part, and the folders that are empty without them. */
export async function removeWritten(folder: string, names: readonly string[]): Promise<void> {
  const folders = new Set<string>();
  for (const name of names) {
    const path = join(folder, name);
    await rm(path, { force: true });
    await rm(partOf(path), { force: true });
    for (let at = dirname(name); at !== '.'; at = dirname(at)) folders.add(at);
  }
  const deepestFirst = [...folders].sort((a, b) => b.length - a.length);
  // One that holds something else stays.
  for (const each of deepestFirst) await rmdir(join(folder, each)).catch(() => undefined);
}

/**
 * Writes a file whole or not at all, durable, and compares it with what it should be.
 * @throws `CommandFailed` when it is another.
 */
export async function writeChecked(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  expected: Manifest['files'][number],
  onPiece: (sizeBytes: number) => void,
): Promise<void> {
  let sizeBytes = 0;
  let sum = 0;
  const checked = async function* () {
    for await (const piece of pieces) {
      sizeBytes += piece.byteLength;
      sum = crc32c([piece], sum);
      onPiece(piece.byteLength);
      yield piece;
    }
    if (sizeBytes !== expected.size_bytes || sum !== expected.crc32c) {
      throw new CommandFailed(`${expected.name} is damaged: its checksum does not match`);
    }
  };
  await writeFile(path, checked());
}

async function writeFile(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = partOf(path);
  const file = await open(part, 'w', FILE_MODE);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const partOf = (path: string): string => `${path}.part`;

function digestOf(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}
