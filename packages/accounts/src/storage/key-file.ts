import { join } from 'node:path';
import { crc32c, type FileSystem, type Random } from '@plinth/kernel';
import { accountsError } from '../errors.js';
import type { SealingKeys } from './sealer.js';

const NAME = 'keys.json';
const MAX_SIZE_BYTES = 65_536;
const KEY_SIZE_BYTES = 32;
/** Old keys that may be there at once; a rotation removes them when it is done. */
const MAX_KEY_COUNT = 16;

/**
 * The keys that sealed texts need, in a file that only its owner may read (mode 0600): `<data>/accounts/keys.json`.
 * Whoever has the database without this file cannot read them. Layout: docs/formats/accounts.md.
 */
export class KeyFile {
  readonly #files: FileSystem;
  readonly #random: Random;
  readonly #folder: string;

  constructor(needs: {
    readonly files: FileSystem;
    readonly random: Random;
    readonly folder: string;
  }) {
    this.#files = needs.files;
    this.#random = needs.random;
    this.#folder = needs.folder;
  }

  /**
   * Reads the keys, or makes the first one. Throws `key_file_damaged`, and `key_file_missing` when there are data that were
   * sealed with a key.
   */
  async open({ hasData }: { readonly hasData: boolean }): Promise<SealingKeys> {
    await this.#files.makeDirectory(this.#folder);
    const found = await this.#files.stat(this.path);
    if (found !== undefined) return await this.#read();
    if (hasData) throw accountsError('key_file_missing', { path: this.path });
    const first: SealingKeys = {
      current: 'k1',
      keys: new Map([['k1', this.#random.bytes(KEY_SIZE_BYTES)]]),
      digestKey: this.#random.bytes(KEY_SIZE_BYTES),
    };
    await this.#write(first);
    return first;
  }

  /** Adds a key and makes it the current one; the others stay until `dropOld`. */
  async addKey(keys: SealingKeys): Promise<SealingKeys> {
    const newest = Math.max(...[...keys.keys.keys()].map((id) => Number(id.slice(1))));
    const current = `k${newest + 1}`;
    const all = [...keys.keys, [current, this.#random.bytes(KEY_SIZE_BYTES)] as const];
    const next = { ...keys, current, keys: new Map(all.slice(-MAX_KEY_COUNT)) };
    await this.#write(next);
    return next;
  }

  /** Nothing is sealed with the old keys any more. */
  async dropOld(keys: SealingKeys): Promise<SealingKeys> {
    const next = {
      ...keys,
      keys: new Map([...keys.keys].filter(([id]) => id === keys.current)),
    };
    await this.#write(next);
    return next;
  }

  get path(): string {
    return join(this.#folder, NAME);
  }

  async #read(): Promise<SealingKeys> {
    const handle = await this.#files.open(this.path, 'r');
    try {
      const sizeBytes = await handle.sizeBytes();
      if (sizeBytes > MAX_SIZE_BYTES) throw accountsError('key_file_damaged', { path: this.path });
      const bytes = new Uint8Array(sizeBytes);
      await handle.read(bytes, 0);
      return this.#decode(Buffer.from(bytes).toString());
    } finally {
      await handle.close();
    }
  }

  /** Temporary file, sync, rename, sync of the folder: at any moment one of the two versions is there, whole. */
  async #write(keys: SealingKeys): Promise<void> {
    const temporary = `${this.path}.new`;
    await this.#files.remove(temporary);
    const handle = await this.#files.open(temporary, 'wx', 'buffered', 'private');
    try {
      await handle.write([Buffer.from(encode(keys))], 0);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await this.#files.rename(temporary, this.path);
    await this.#files.syncDirectory(this.#folder);
  }

  #decode(text: string): SealingKeys {
    try {
      const { checksum, ...content } = JSON.parse(text) as Content & { checksum: string };
      const keys = new Map(
        Object.entries(content.keys).map(([id, key]) => [id, Buffer.from(key, 'base64')] as const),
      );
      const isWhole =
        content.version === 1 &&
        checksum === checksumOf(content) &&
        keys.has(content.current) &&
        [...keys.values()].every((key) => key.length === KEY_SIZE_BYTES);
      if (isWhole) {
        const digestKey = Buffer.from(content.digest_key, 'base64');
        return { current: content.current, keys, digestKey };
      }
    } catch {
      // The parser's own message would quote the keys.
    }
    throw accountsError('key_file_damaged', { path: this.path });
  }
}

interface Content {
  readonly version: number;
  readonly current: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly digest_key: string;
}

function encode(keys: SealingKeys): string {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  const content: Content = {
    version: 1,
    current: keys.current,
    keys: Object.fromEntries([...keys.keys].map(([id, key]) => [id, base64(key)])),
    digest_key: base64(keys.digestKey),
  };
  return `${JSON.stringify({ ...content, checksum: checksumOf(content) }, null, 2)}\n`;
}

const checksumOf = ({ version, current, keys, digest_key }: Content): string =>
  crc32c([Buffer.from(JSON.stringify({ version, current, keys, digest_key }))])
    .toString(16)
    .padStart(8, '0');
