import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { Exclusive } from '@plinth/kernel';
import { identityError } from '../errors.js';

export type PrivateKeyFormat = 'pkcs8' | 'pkcs1';

const makeKeyPair = promisify(generateKeyPair);
/** Generating a key takes a few tenths of a second, so clients further back in the queue would time out. */
const MAX_WAITING = 64;

/** Generates key pairs one at a time, because each occupies a thread that is also needed for file access. */
export class KeyMaker {
  readonly #exclusive = new Exclusive();
  #waitingCount = 0;

  /**
   * Throws `keys_overloaded`.
   * @param check called when the request reaches the front of the queue; if it rejects, no key is
   * generated.
   * @returns the public key, and the private key in PEM.
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
