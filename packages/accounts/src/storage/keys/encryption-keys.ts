import { crc32c, type Random } from '@plinth/kernel';
import type { EncryptionKeys } from '../encryptor.js';

const KEY_SIZE_BYTES = 32;
/**
 * Maximum number of keys. At the limit, a rotation does not add a key; it encrypts with the newest
 * key and drops old ones.
 */
const MAX_KEY_COUNT = 16;

/** Storage of the encryption keys: a file of the node, or the database that nodes share. */
export interface KeyStore {
  /** Whether an unfinished rotation may belong to another node. */
  readonly isShared: boolean;
  /**
   * Reads the keys, or creates the first one. Throws `key_file_damaged` or `shared_keys_damaged`,
   * and `key_file_missing` if encrypted data exists without a key.
   */
  open(options: { readonly hasData: boolean }): Promise<EncryptionKeys>;
  /**
   * Adds a key and makes it current. Every node has the key when the promise resolves.
   * @returns `old`: keys that no node uses for encryption. They may be dropped once no row needs
   * them.
   */
  addKey(
    keys: EncryptionKeys,
  ): Promise<{ readonly keys: EncryptionKeys; readonly old: readonly string[] }>;
  /** Drops keys that no row needs. Keeps the current key. */
  drop(keys: EncryptionKeys, ids: readonly string[]): Promise<EncryptionKeys>;
}

export const firstKeys = (random: Random): EncryptionKeys => ({
  current: 'k1',
  keys: new Map([['k1', random.bytes(KEY_SIZE_BYTES)]]),
  digestKey: random.bytes(KEY_SIZE_BYTES),
});

/** Adds a key without making it current. */
export function withNewKey(
  keys: EncryptionKeys,
  random: Random,
): { readonly keys: EncryptionKeys; readonly newest: string } {
  if (keys.keys.size >= MAX_KEY_COUNT) return { keys, newest: newestOf(keys) };
  const newest = `k${numberOf(newestOf(keys)) + 1}`;
  const all = [...keys.keys, [newest, random.bytes(KEY_SIZE_BYTES)] as const];
  return { keys: { ...keys, keys: new Map(all) }, newest };
}

/** Keys are numbered in order of creation. */
export const numberOf = (id: string): number => Number(id.slice(1));

export const newestOf = ({ keys }: EncryptionKeys): string =>
  `k${Math.max(...[...keys.keys()].map(numberOf))}`;

export const oldOf = ({ current, keys }: EncryptionKeys): readonly string[] =>
  [...keys.keys()].filter((id) => id !== current);

export const without = (keys: EncryptionKeys, ids: readonly string[]): EncryptionKeys => ({
  ...keys,
  keys: new Map([...keys.keys].filter(([id]) => id === keys.current || !ids.includes(id))),
});

interface Content {
  readonly version: number;
  readonly current: string;
  readonly keys: Readonly<Record<string, string>>;
  readonly digest_key: string;
}

/** Serializes keys. Layout: docs/formats/accounts.md. */
export function encodeKeys(keys: EncryptionKeys): string {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  const content: Content = {
    version: 1,
    current: keys.current,
    keys: Object.fromEntries([...keys.keys].map(([id, key]) => [id, base64(key)])),
    digest_key: base64(keys.digestKey),
  };
  return `${JSON.stringify({ ...content, checksum: checksumOf(content) }, null, 2)}\n`;
}

/** Returns `undefined` if the text is corrupt. */
export function decodeKeys(text: string): EncryptionKeys | undefined {
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
    if (!isWhole) return undefined;
    const digestKey = Buffer.from(content.digest_key, 'base64');
    return { current: content.current, keys, digestKey };
  } catch {
    return undefined; // The parser's own message would quote the keys.
  }
}

const checksumOf = ({ version, current, keys, digest_key }: Content): string =>
  crc32c([Buffer.from(JSON.stringify({ version, current, keys, digest_key }))])
    .toString(16)
    .padStart(8, '0');
