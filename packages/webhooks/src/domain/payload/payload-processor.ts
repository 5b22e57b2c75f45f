import { webhookError } from '../../errors.js';
import type { SignedBody, SigningJob } from '../delivery-request.js';
import type { ParsedEvent, ParsedItem } from './event-body.js';
import { PAYLOAD_TASKS, type PayloadTasks, type TaskName } from './payload-tasks.js';
import { PayloadThread } from './payload-thread.js';

/**
 * Parsing this many bytes takes about ten milliseconds; larger payloads would block the event loop.
 */
const LARGE_SIZE_BYTES = 512 * 1024;
/** Total bytes of tasks queued for the thread. Beyond this limit, tasks fail with `queue_full`. */
const MAX_WAITING_BYTES = 256 * 1024 * 1024;

/**
 * Runs payload tasks without blocking the event loop: small ones inline, large ones in a worker
 * thread.
 */
export class PayloadProcessor {
  readonly #thread = new PayloadThread();
  #waitingBytes = 0;

  /** Throws `json_unreadable` and `queue_full`. Takes ownership of `body`. */
  async read(body: Uint8Array): Promise<ParsedEvent> {
    return await this.#run('read', body, { bytes: body, mayTransfer: true });
  }

  /**
   * Like `read`, but returns `many` for more than `maxCount` events. Payloads of a batch may share
   * one buffer.
   */
  async readBatch(body: Uint8Array, maxCount: number): Promise<readonly ParsedItem[] | 'many'> {
    return await this.#run('read_batch', { body, maxCount }, { bytes: body, mayTransfer: true });
  }

  /** Throws `queue_full` when the thread is overloaded. */
  async sign(job: SigningJob): Promise<SignedBody> {
    return await this.#run('sign', job, { bytes: job.payload, mayTransfer: false });
  }

  /** Returns the SHA-256 in hex. Throws `queue_full`. */
  async digest(bytes: Uint8Array): Promise<string> {
    return await this.#run('digest', bytes, { bytes, mayTransfer: false });
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  async #run<Name extends TaskName>(
    name: Name,
    input: PayloadTasks[Name]['input'],
    options: { readonly bytes: Uint8Array; readonly mayTransfer: boolean },
  ): Promise<PayloadTasks[Name]['output']> {
    const { bytes, mayTransfer } = options;
    const sizeBytes = bytes.byteLength;
    if (sizeBytes <= LARGE_SIZE_BYTES) {
      const task = PAYLOAD_TASKS[name] as (
        input: PayloadTasks[Name]['input'],
      ) => PayloadTasks[Name]['output']; // the function of the task with this name
      return task(input);
    }
    if (this.#waitingBytes + sizeBytes > MAX_WAITING_BYTES)
      throw webhookError('queue_full', 'engine');
    const isWhole = bytes.byteLength === bytes.buffer.byteLength;
    const transferred =
      mayTransfer && isWhole && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
    this.#waitingBytes += sizeBytes;
    try {
      return (await this.#thread.run(name, input, transferred)) as PayloadTasks[Name]['output']; // the thread returns the output of this task
    } finally {
      this.#waitingBytes -= sizeBytes;
    }
  }
}
