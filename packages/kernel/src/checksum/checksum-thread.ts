import { WorkerClient } from '../threads/worker-client.js';
import { crc32c } from './crc32c.js';

/** Shorter pieces take less time to checksum here than to transfer to the thread. */
const MIN_HANDED_BYTES = 64 * 1024;

export interface ChecksumRequest {
  readonly bytes: Uint8Array;
  readonly seed: number;
}

/**
 * Computes CRC-32C in its own thread, one piece after the other, so that gigabytes do not block the
 * event loop. The caller bounds the number of waiting pieces.
 */
export class ChecksumThread {
  readonly #client = new WorkerClient<ChecksumRequest, number>(
    new URL('./checksum-worker.js', import.meta.url),
    { name: 'checksums', env: {} },
  );

  /**
   * Transfers the memory of `bytes` to the thread; the caller cannot use it afterwards.
   * @param seed the checksum of the preceding bytes.
   */
  async sum(bytes: Uint8Array<ArrayBuffer>, seed: number): Promise<number> {
    if (bytes.byteLength < MIN_HANDED_BYTES) return crc32c([bytes], seed);
    return await this.#client.request({ bytes, seed }, [bytes.buffer]);
  }

  /** Pending calls fail. Idempotent. */
  async close(): Promise<void> {
    await this.#client.stop(new Error('the checksum thread was stopped'));
  }
}
