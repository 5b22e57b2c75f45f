import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { Exclusive } from '@plinth/kernel';
import { identityError } from '../errors.js';

export type PrivateKeyFormat = 'pkcs8' | 'pkcs1';

const makeKeyPair = promisify(generateKeyPair);
/** At some tenths of a second each, those who wait longer have given up. */
const MAX_WAITING = 64;

/** Makes pairs of keys, one at a time: it takes a thread that files need, too. */
export class KeyMaker {
  readonly #exclusive = new Exclusive();
  #waitingCount = 0;

  /**
   * Throws `keys_overloaded`. @param check called when its turn has come; makes no key when that rejects.
   * @returns the public key, and the private one in PEM.
   */
  async make(
    format: PrivateKeyFormat,
    check: () => Promise<void>,
  ): Promise<{ readonly publicKey: KeyObject; readonly pem: string }> {
    if (this.#waitingCount >= MAX_WAITING) throw identityError('keys_overloaded', MAX_WAITING);
    this.#waitingCount++;
    try {
      const pair = await this.#exclusive.run(async () => {
        await check();
        return await makeKeyPair('rsa', { modulusLength: 2048 });
      });
      const pem = pair.privateKey.export({ type: format, format: 'pem' }).toString();
      return { publicKey: createPublicKey(pair.privateKey), pem };
    } finally {
      this.#waitingCount--;
    }
  }
}
