import { Worker } from 'node:worker_threads';
import { assertNever, requestError } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import {
  coversBuffer,
  isShared,
  type ParseJob,
  type ParseJobOptions,
  type ParserMessage,
  type ParserReply,
  type ParserWorkerSettings,
} from './parser-messages.js';
import { MAX_KEPT_BYTES } from './slab-allocator.js';

/**
 * A body leaves little on the heap, because its columns are stored outside the heap. Without the
 * limit, the heap grows to three times the size under load.
 */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 12 };

export interface ParseResult {
  /** Series and tables are numbered per worker, never across workers. */
  readonly parserId: number;
  readonly parsed: ParsedBody;
  /** The decoded body: byte ranges of the rows refer to it. */
  readonly body: Uint8Array;
  /**
   * Must be called at most once, after the last use of the numbers in `parsed`. A later body reuses their memory.
   */
  readonly release: () => void;
}

interface Pending {
  readonly body: Uint8Array;
  readonly sizeBytes: number;
  readonly resolve: (result: ParseResult) => void;
  readonly reject: (error: Error) => void;
}

/** A thread with its own parser. Results arrive in the order of `parse` calls. */
export class ParserThread {
  readonly workerId: number;
  readonly #worker: Worker;
  /** Jobs without a reply, oldest first. */
  #pending: Pending[] = [];
  /**
   * Memory of earlier replies that is returned with the next job: at most as much as the thread
   * keeps.
   */
  #slabs: ArrayBuffer[] = [];
  #slabBytes = 0;
  #bytesInFlight = 0;

  /** @param onEnd called, once or twice, when the thread ends and accepts no more jobs. */
  constructor(workerId: number, settings: ParserWorkerSettings, onEnd: () => void) {
    this.workerId = workerId;
    this.#worker = new Worker(new URL('./parser-worker.js', import.meta.url), {
      workerData: settings,
      name: `parser-${workerId}`,
      resourceLimits: HEAP_LIMITS,
    });
    this.#worker.on('message', (reply: ParserReply) => this.#settle(reply));
    const end = (cause?: unknown): void => {
      onEnd();
      this.#rejectAll(new ParserCrashed(workerId, cause));
    };
    this.#worker.on('error', end);
    this.#worker.on('exit', () => end());
  }

  /** Returns the size of the bodies that are queued or being parsed. */
  get bytesInFlight(): number {
    return this.#bytesInFlight;
  }

  /**
   * Takes ownership of the body: its memory is transferred, or copied if it is part of a larger
   * buffer. A shared body is read in place.
   */
  parse(body: Uint8Array, options: ParseJobOptions): Promise<ParseResult> {
    const sizeBytes = body.length;
    return new Promise((resolve, reject) => {
      this.#send(body, options);
      this.#pending.push({ body, sizeBytes, resolve, reject });
      this.#bytesInFlight += sizeBytes;
    });
  }

  #send(body: Uint8Array, options: ParseJobOptions): void {
    const slabs = this.#slabs;
    this.#slabs = [];
    this.#slabBytes = 0;
    if (isShared(body)) {
      this.#worker.postMessage({ body, slabs, options } satisfies ParseJob, slabs);
      return;
    }
    const own = coversBuffer(body) ? body : Uint8Array.from(body);
    this.#worker.postMessage({ body: own, slabs, options } satisfies ParseJob, [
      own.buffer,
      ...slabs,
    ]);
  }

  /** Makes the parser clear its tables, fields and series before the next body. */
  clear(): void {
    const message: ParserMessage = 'forget';
    this.#worker.postMessage(message);
  }

  /** Stops the thread; unfinished jobs reject with `why`. */
  async close(why: Error): Promise<void> {
    this.#rejectAll(why);
    await this.#worker.terminate();
  }

  #settle(reply: ParserReply): void {
    const job = this.#pending.shift();
    if (job === undefined) return; // replied while the worker was closing
    this.#bytesInFlight -= job.sizeBytes;
    switch (reply.kind) {
      case 'parsed':
        job.resolve({
          parserId: this.workerId,
          parsed: reply.parsed,
          body: reply.body ?? job.body,
          release: () => {
            if (reply.slab !== undefined) this.#keep(reply.slab);
          },
        });
        return;
      case 'body_not_utf8':
        job.reject(tsdbError('body_not_utf8', reply));
        return;
      case 'snappy_corrupt':
        job.reject(tsdbError('snappy_corrupt', reply));
        return;
      case 'body_too_large':
        job.reject(requestError('body_too_large', reply));
        return;
      case 'gzip_corrupt':
        job.reject(requestError('gzip_corrupt', reply.cause.message, reply.cause));
        return;
      default:
        assertNever(reply);
    }
  }

  #keep(slab: ArrayBuffer): void {
    if (this.#slabBytes + slab.byteLength > MAX_KEPT_BYTES) return;
    this.#slabBytes += slab.byteLength;
    this.#slabs.push(slab);
  }

  #rejectAll(why: Error): void {
    const jobs = this.#pending;
    this.#pending = [];
    this.#bytesInFlight = 0;
    for (const job of jobs) job.reject(why);
  }
}

/**
 * A parser thread ended unexpectedly, because of a bug or lack of memory. No results of its bodies
 * are kept.
 */
export class ParserCrashed extends Error {
  override readonly name = 'ParserCrashed';
  constructor(workerId: number, cause?: unknown) {
    super(`parser thread ${workerId} crashed`, { cause });
  }
}
