import { join } from 'node:path';
import { type FileSystem, messageOf, type Random } from '@plinth/kernel';
import { accountsError } from '../../key-errors.js';
import type { EncryptionKeys } from '../encryptor.js';
import {
  decodeKeys,
  encodeKeys,
  firstKeys,
  type KeyStore,
  oldOf,
  withNewKey,
  without,
} from './encryption-keys.js';

const NAME = 'keys.json';
const MAX_SIZE_BYTES = 65_536;

/**
 * Encryption keys in a file that only its owner may read (mode 0600): `<data>/accounts/keys.json`.
 * Without this file, encrypted data in the database cannot be read. Layout:
 * docs/formats/accounts.md.
 */
export class KeyFile implements KeyStore {
  readonly isShared = false;
  readonly #files: FileSystem;
  readonly #random: Random;
  readonly #folder: string;

  constructor(deps: {
    readonly files: FileSystem;
    readonly random: Random;
    readonly folder: string;
  }) {
    this.#files = deps.files;
    this.#random = deps.random;
    this.#folder = deps.folder;
  }

  async open({ hasData }: { readonly hasData: boolean }): Promise<EncryptionKeys> {
    await this.#files.makeDirectory(this.#folder);
    const found = await this.read();
    if (found !== undefined) return found;
    if (hasData) throw accountsError('key_file_missing', { path: this.path });
    const first = firstKeys(this.#random);
    await this.#write(first);
    return first;
  }

  async addKey(
    keys: EncryptionKeys,
  ): Promise<{ readonly keys: EncryptionKeys; readonly old: readonly string[] }> {
    const { keys: all, newest } = withNewKey(keys, this.#random);
    const next = { ...all, current: newest };
    await this.#write(next);
    return { keys: next, old: oldOf(next) };
  }

  async drop(keys: EncryptionKeys, ids: readonly string[]): Promise<EncryptionKeys> {
    const next = without(keys, ids);
    await this.#write(next);
    return next;
  }

  get path(): string {
    return join(this.#folder, NAME);
  }

  /** Returns `undefined` if the file does not exist. Throws `key_file_damaged`. */
  async read(): Promise<EncryptionKeys | undefined> {
    return await readKeys(this.#files, this.path);
  }

  /**
   * Writes a temporary file, syncs, renames and syncs the folder, so that one complete version
   * exists at all times.
   */
  async #write(keys: EncryptionKeys): Promise<void> {
    const temporary = `${this.path}.new`;
    await this.#files.remove(temporary);
    const handle = await this.#files.open(temporary, 'wx', 'buffered', 'private');
    try {
      await handle.write([Buffer.from(encodeKeys(keys))], 0);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await this.#files.rename(temporary, this.path);
    await this.#files.syncDirectory(this.#folder);
  }
}

/** Returns the problem with the key file in `folder`; `undefined` if it is intact or does not exist. */
export async function checkKeyFile(files: FileSystem, folder: string): Promise<string | undefined> {
  const path = join(folder, NAME);
  try {
    await readKeys(files, path);
    return undefined;
  } catch (error) {
    return accountsError.is(error) ? error.message : `${path} cannot be read: ${messageOf(error)}`;
  }
}

async function readKeys(files: FileSystem, path: string): Promise<EncryptionKeys | undefined> {
  const damaged = () => accountsError('key_file_damaged', { path });
  if ((await files.stat(path)) === undefined) return undefined;
  const handle = await files.open(path, 'r');
  try {
    const sizeBytes = await handle.sizeBytes();
    if (sizeBytes > MAX_SIZE_BYTES) throw damaged();
    const bytes = new Uint8Array(sizeBytes);
    await handle.read(bytes, 0);
    const keys = decodeKeys(Buffer.from(bytes).toString());
    if (keys === undefined) throw damaged();
    return keys;
  } finally {
    await handle.close();
  }
}
