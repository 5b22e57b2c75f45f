import { Worker } from 'node:worker_threads';
import { crc32c } from './crc32c.js';

/** Shorter pieces take less time to checksum here than to transfer to the thread. */
const MIN_HANDED_BYTES = 64 * 1024;

export interface ChecksumRequest {
  readonly bytes: Uint8Array;
  readonly seed: number;
}

interface Waiting {
  readonly resolve: (sum: number) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Computes CRC-32C in its own thread, one piece after the other, so that large files do not block the event loop. The
 * first large piece starts the thread. After a failure, the next large piece restarts it. The caller bounds the
 * number of waiting pieces.
 */
export class ChecksumThread {
  #worker: Worker | undefined;
  /** Pieces without a result, oldest first. */
  #waiting: Waiting[] = [];

  /**
   * Transfers the memory of `bytes` to the thread; the caller cannot use it afterwards.
   * @param seed the checksum of the preceding bytes.
   */
  async sum(bytes: Uint8Array<ArrayBuffer>, seed: number): Promise<number> {
    if (bytes.byteLength < MIN_HANDED_BYTES) return crc32c([bytes], seed);
    const worker = this.#worker ?? this.#start();
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      worker.ref();
      worker.postMessage({ bytes, seed } satisfies ChecksumRequest, [bytes.buffer]);
    });
  }

  /** Pending calls fail. Idempotent. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./checksum-worker.js', import.meta.url), {
      name: 'checksums',
      env: {},
    });
    worker.on('message', (sum: number) => {
      this.#waiting.shift()?.resolve(sum);
      // An idle thread does not keep the process alive.
      if (this.#waiting.length === 0) worker.unref();
    });
    worker.on('error', (error: Error) => this.#end(worker, error));
    worker.on('exit', () => this.#end(worker, new Error('the checksum thread exited')));
    this.#worker = worker;
    return worker;
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
