import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Random } from '../clock/random.js';

/** A stored secret cannot be decrypted: it was encrypted with another key, for another location, or was modified. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
  readonly kind = 'secret_unreadable';
  /** @param origin the file or setting of the master key. */
  constructor(origin: string) {
    super(
      `a stored secret cannot be decrypted with this master key (${origin}); restore the key that it was encrypted with, for example from a backup`,
    );
  }
}

const VERSION = 1;
const NONCE_SIZE_BYTES = 12;
const TAG_SIZE_BYTES = 16;
const HEAD_SIZE_BYTES = 1 + NONCE_SIZE_BYTES + TAG_SIZE_BYTES;

/**
 * Encrypts secrets that must be read again (signing keys) with AES-256-GCM. Layout: version 1, a 12-byte nonce, a
 * 16-byte tag, the ciphertext. The ciphertext is bound to its `place`, so that it cannot be moved elsewhere.
 */
export class SecretBox {
  readonly #key: Buffer;
  readonly #random: Random;
  readonly #origin: string;

  /**
   * @param masterKey at least 32 random bytes.
   * @param origin the file or setting of the key, for error messages.
   */
  constructor(masterKey: Uint8Array, random: Random, origin = 'of the caller') {
    this.#origin = origin;
    this.#key = createHash('sha256').update('plinth secret box 1').update(masterKey).digest();
    this.#random = random;
  }

  seal(text: string, place: string): Uint8Array {
    const nonce = this.#random.bytes(NONCE_SIZE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(place));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body]);
  }

  /** Throws `SecretUnreadable`. */
  open(sealed: Uint8Array, place: string): string {
    if (sealed.length < HEAD_SIZE_BYTES || sealed[0] !== VERSION)
      throw new SecretUnreadable(this.#origin);
    const nonce = sealed.subarray(1, 1 + NONCE_SIZE_BYTES);
    const tag = sealed.subarray(1 + NONCE_SIZE_BYTES, HEAD_SIZE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce)
      .setAAD(Buffer.from(place))
      .setAuthTag(tag);
    try {
      const body = decipher.update(sealed.subarray(HEAD_SIZE_BYTES));
      return Buffer.concat([body, decipher.final()]).toString();
    } catch {
      throw new SecretUnreadable(this.#origin);
    }
  }
}
