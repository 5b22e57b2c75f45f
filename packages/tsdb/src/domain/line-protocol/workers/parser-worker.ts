import { Worker } from 'node:worker_threads';
import { assertNever, requestError } from '@plinth/kernel';
import { tsdbError } from '../../../errors.js';
import type { ParsedBody } from '../../../model/parsed-body.js';
import {
  isShared,
  isWhole,
  type ParseJob,
  type ParseJobOptions,
  type ParserMessage,
  type ParserReply,
  type ParserWorkerSettings,
} from './parser-messages.js';
import { MAX_KEPT_BYTES } from './slab-memory.js';

/** What a body leaves in the heap is little: its columns are outside. Left alone, the heap takes three times as much in a load. */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 12 };

export interface ParseResult {
  /** Series and tables are numbered per lane, never across lanes. */
  readonly workerId: number;
  readonly parsed: ParsedBody;
  /** The decoded body: byte ranges of the rows point into it. */
  readonly body: Uint8Array;
  /** May be called once, when nobody looks at the numbers of `parsed` any more: a later body gets their memory. */
  readonly release: () => void;
}

interface Pending {
  readonly body: Uint8Array;
  readonly sizeBytes: number;
  readonly resolve: (result: ParseResult) => void;
  readonly reject: (error: Error) => void;
}

/** A thread with a parser of its own. Results come in the order of `parse` calls. */
export class ParserWorker {
  readonly workerId: number;
  readonly #worker: Worker;
  /** Jobs without a reply, oldest first. */
  #pending: Pending[] = [];
  /** Memory of earlier replies that goes back with the next job: no more than the thread would keep. */
  #slabs: ArrayBuffer[] = [];
  #slabBytes = 0;
  #bytesInFlight = 0;

  /** @param onEnd called, once or twice, when the thread ends and takes no more jobs. */
  constructor(workerId: number, settings: ParserWorkerSettings, onEnd: () => void) {
    this.workerId = workerId;
    this.#worker = new Worker(new URL('./parser-thread.js', import.meta.url), {
      workerData: settings,
      name: `line-protocol-${workerId}`,
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

  /** Bytes of the bodies that wait or are parsed. */
  get bytesInFlight(): number {
    return this.#bytesInFlight;
  }

  /**
   * Takes the body away: its memory changes hands, unless it is part of something larger and must be copied. A shared
   * body is read where it lies.
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
    const own = isWhole(body) ? body : Uint8Array.from(body);
    this.#worker.postMessage({ body: own, slabs, options } satisfies ParseJob, [
      own.buffer,
      ...slabs,
    ]);
  }

  /** The parser starts over before the next body. */
  forget(): void {
    const message: ParserMessage = 'forget';
    this.#worker.postMessage(message);
  }

  /** Ends the thread; what it has not answered is rejected with `why`. */
  async close(why: Error): Promise<void> {
    this.#rejectAll(why);
    await this.#worker.terminate();
  }

  #settle(reply: ParserReply): void {
    const job = this.#pending.shift();
    if (job === undefined) return; // answered while the lane was closing
    this.#bytesInFlight -= job.sizeBytes;
    switch (reply.kind) {
      case 'parsed':
        job.resolve({
          workerId: this.workerId,
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

/** A lane's thread ended by itself: a bug or lack of memory. Nothing of its bodies was kept. */
export class ParserCrashed extends Error {
  override readonly name = 'LaneCrashed';
  constructor(workerId: number, cause?: unknown) {
    super(`line-protocol lane ${workerId} crashed`, { cause });
  }
}
