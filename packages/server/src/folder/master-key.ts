import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigInvalid, type FileSystem, messageOf, type Random } from '@plinth/kernel';
import type { ServerSettings } from '../settings.js';
import { createPrivateFile } from './create-private-file.js';

const FILE_NAME = 'master.key';
const KEY_SIZE_BYTES = 32;
/** Same bound as the setting `master_key`. */
const MIN_LENGTH = 32;

/**
 * Returns the configured encryption key for stored secrets, given directly or in a file; `undefined`
 * without one. Throws `ConfigInvalid`, whose message never contains the key.
 */
export async function readGivenMasterKey(
  settings: Pick<ServerSettings, 'master_key' | 'master_key_file'>,
): Promise<Uint8Array | undefined> {
  const { master_key: inline, master_key_file: path } = settings;
  if (path === undefined) return inline === undefined ? undefined : Buffer.from(inline);
  if (inline !== undefined) {
    throw new ConfigInvalid([
      'server.master_key_file: server.master_key is also set; use only one of these settings',
    ]);
  }
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigInvalid([`server.master_key_file: cannot be read: ${why}`]);
  }
  if (text.length >= MIN_LENGTH) return Buffer.from(text);
  throw new ConfigInvalid([
    `server.master_key_file: the key in ${path} has ${text.length} characters; use at least ${MIN_LENGTH}`,
  ]);
}

/** Returns the file or setting that contains the key, for error messages. */
export const originOfMasterKey = (
  { master_key, master_key_file }: Pick<ServerSettings, 'master_key' | 'master_key_file'>,
  dataDir: string,
): string =>
  master_key_file ?? (master_key === undefined ? join(dataDir, FILE_NAME) : 'server.master_key');

/**
 * Returns the generated key of a node without a configured one. It is created once in the data folder, readable
 * only by the server's user. The caller must hold the folder lock. Throws `ConfigInvalid` for a file without a
 * valid key.
 */
export async function readOwnMasterKey(
  dataDir: string,
  files: FileSystem,
  random: Random,
): Promise<Uint8Array> {
  const path = join(dataDir, FILE_NAME);
  const stored = await readKept(path);
  if (stored !== undefined) return stored;
  const text = Buffer.from(random.bytes(KEY_SIZE_BYTES)).toString('base64');
  await createPrivateFile(files, { folder: dataDir, name: FILE_NAME }, text);
  return Buffer.from(text);
}

/** Returns the generated key, or the problem that would prevent a start. `key` is `undefined` without the file. */
export async function readOwnKey(dataDir: string): Promise<{
  readonly path: string;
  readonly key?: Uint8Array | undefined;
  readonly fault?: string;
}> {
  const path = join(dataDir, FILE_NAME);
  try {
    return { path, key: await readKept(path) };
  } catch (error) {
    const fault = error instanceof ConfigInvalid ? error.problems.join() : messageOf(error);
    return { path, fault };
  }
}

async function readKept(path: string): Promise<Uint8Array | undefined> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return undefined;
    throw error;
  }
  if (text.length >= MIN_LENGTH) return Buffer.from(text);
  throw new ConfigInvalid([
    `the key in ${path} has ${text.length} characters instead of at least ${MIN_LENGTH}; restore it from a copy, or remove the file and enter all encrypted secrets again`,
  ]);
}
