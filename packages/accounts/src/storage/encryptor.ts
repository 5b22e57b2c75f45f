import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { invariant } from '@plinth/kernel';

export interface EncryptionKeys {
  /** Id of the key for new data. */
  readonly current: string;
  /** 32-byte keys, by id. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
  /** Key for digests of values too short for a plain hash; never rotated. */
  readonly digestKey: Uint8Array;
}

const NONCE_SIZE_BYTES = 12;
const TAG_SIZE_BYTES = 16;
const VERSION = 's1';

/**
 * Encrypts strings at rest with AES-256-GCM and a random nonce per string, as `s1.<key
 * id>.<base64url of nonce, text, tag>`. The row id is authenticated, so an encrypted string cannot
 * be moved to another row.
 */
export class Encryptor {
  #keys: EncryptionKeys;
  #digester: Digester;

  constructor(keys: EncryptionKeys) {
    this.#keys = keys;
    this.#digester = new Digester(keys.digestKey);
  }

  use(keys: EncryptionKeys): void {
    this.#keys = keys;
    this.#digester = new Digester(keys.digestKey);
  }

  encrypt(text: string, rowId: string): string {
    const { current, keys } = this.#keys;
    const key = keys.get(current);
    invariant(key !== undefined, 'the current encryption key is missing');
    const nonce = randomBytes(NONCE_SIZE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    cipher.setAAD(Buffer.from(rowId));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()]);
    return `${VERSION}.${current}.${Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')}`;
  }

  /** Throws if the string was changed or moved, or if its key was dropped. */
  decrypt(sealed: string, rowId: string): string {
    const [version, keyId = '', base64 = ''] = sealed.split('.');
    const key = this.#keys.keys.get(keyId);
    invariant(version === VERSION && key !== undefined, `encryption key ${keyId} is missing`);
    const bytes = Buffer.from(base64, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_SIZE_BYTES));
    decipher.setAAD(Buffer.from(rowId));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_SIZE_BYTES));
    const middle = bytes.subarray(NONCE_SIZE_BYTES, bytes.length - TAG_SIZE_BYTES);
    return Buffer.concat([decipher.update(middle), decipher.final()]).toString('utf8');
  }

  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${VERSION}.${this.#keys.current}.`);
  }

  /**
   * Returns a keyed digest, so that short values such as id numbers cannot be found by brute force.
   */
  digest(text: string): string {
    return this.#digester.digest(text);
  }
}

const BLOCK_SIZE_BYTES = 64;
const HASH_SIZE_BYTES = 32;

/**
 * HMAC-SHA256 as in RFC 2104, from two precomputed hash states. Every change digests its body, and
 * creating a library object per digest would cost several times as much as the hashing.
 */
class Digester {
  readonly #inner: Buffer;
  /** The outer key, followed by space for the inner hash. */
  readonly #outer: Buffer;

  constructor(key: Uint8Array) {
    invariant(key.length <= BLOCK_SIZE_BYTES, 'the digest key must fit into one block');
    const block = Buffer.alloc(BLOCK_SIZE_BYTES);
    block.set(key);
    this.#inner = block.map((byte) => byte ^ 0x36) as Buffer; // `map` of a Buffer returns a Buffer
    this.#outer = Buffer.alloc(BLOCK_SIZE_BYTES + HASH_SIZE_BYTES);
    this.#outer.set(block.map((byte) => byte ^ 0x5c));
  }

  digest(text: string): string {
    const message = Buffer.allocUnsafe(BLOCK_SIZE_BYTES + Buffer.byteLength(text));
    message.set(this.#inner);
    message.write(text, BLOCK_SIZE_BYTES, 'utf8');
    this.#outer.set(hash('sha256', message, 'buffer'), BLOCK_SIZE_BYTES);
    return hash('sha256', this.#outer, 'hex');
  }
}
