import { Worker } from 'node:worker_threads';
import { crc32c } from './crc32c.js';

/** Shorter ones are summed sooner than they are handed over. */
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
 * CRC-32C in a thread of its own, one piece after the other: gigabytes that are summed hold nobody up. The thread is started by
 * the first piece that is worth it, and anew after it failed. How many pieces wait is for the caller to bound.
 */
export class ChecksumThread {
  #worker: Worker | undefined;
  /** Pieces without an answer, oldest first. */
  #waiting: Waiting[] = [];

  /**
   * Takes the memory of `bytes` away, all of it.
   * @param seed the sum of what came before.
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

  /** What has no answer yet fails. Twice is harmless. */
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
      // With nothing to do it does not keep the process alive.
      if (this.#waiting.length === 0) worker.unref();
    });
    worker.on('error', (error: Error) => this.#end(worker, error));
    worker.on('exit', () => this.#end(worker, new Error('the thread for checksums ended')));
    this.#worker = worker;
    return worker;
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
