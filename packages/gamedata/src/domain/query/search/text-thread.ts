import { Worker } from 'node:worker_threads';
import { invariant } from '@plinth/kernel';
import type { Kind } from '../../../model/kinds.js';
import type { Row } from '../../data/row.js';
import type { ReadTexts } from './group-texts.js';
import type { PackedParts } from './packed-texts.js';

/** A group of rows to read. */
export interface TextsWanted {
  readonly kind: Kind;
  /** `undefined` for the default language. */
  readonly language: string | undefined;
  readonly rows: readonly Row[];
}

export type ToTextThread = Omit<TextsWanted, 'rows'> & { readonly texts: PackedParts };

export interface FromTextThread {
  readonly read: ReadTexts;
  /** Buffer of the request, to be reused for the next group. */
  readonly spare: Uint8Array;
}

/** Maximum groups in progress: one being read and one queued. */
const MAX_AHEAD = 2;
/** Idle time after which the thread stops. */
const IDLE_MS = 2_000;
/**
 * Enough for the largest group of maximum-size records. A small young generation frees short-lived
 * objects early.
 */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 1024 };

/** Groups of a kind have similar sizes. */
const ROOM_TO_GROW = 1.25;

interface Job {
  readonly wanted: TextsWanted;
  readonly resolve: (read: ReadTexts) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads the searchable strings of many rows in a worker thread. The thread stops when idle, which frees its
 * memory.
 */
export class TextThread {
  readonly #waiting: Job[] = [];
  readonly #running: Job[] = [];
  /**
   * One buffer per group in progress, reused because allocating each group would fragment the heap.
   */
  #spare: Buffer[] = [];
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  async read(wanted: TextsWanted): Promise<ReadTexts> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ wanted, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#fail(new Error('the server is shutting down'));
    const worker = this.#worker;
    this.#worker = undefined; // late responses have no waiting caller
    await worker?.terminate();
  }

  #next(): void {
    if (this.#isClosed) {
      this.#fail(new Error('the server is shutting down'));
      return;
    }
    while (this.#running.length < MAX_AHEAD) {
      const job = this.#waiting.shift();
      if (job === undefined) break;
      this.#running.push(job);
      this.#send(job.wanted);
    }
    clearTimeout(this.#idle);
    if (this.#running.length > 0) return;
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  #send({ rows, ...about }: TextsWanted): void {
    const texts = packRows(rows, this.#spare.pop());
    const message: ToTextThread = { ...about, texts };
    this.#worker ??= this.#start();
    this.#worker.postMessage(message, [texts.bytes.buffer as ArrayBuffer]); // allocated with `allocUnsafeSlow`
  }

  #start(): Worker {
    const worker = new Worker(new URL('./text-worker.js', import.meta.url), {
      name: 'game-data-texts',
      resourceLimits: HEAP_LIMITS,
    });
    worker.unref();
    worker.on('message', ({ read, spare }: FromTextThread) => {
      if (this.#worker !== worker) return;
      this.#spare.push(Buffer.from(spare.buffer, spare.byteOffset, spare.byteLength));
      const job = this.#running.shift();
      invariant(job !== undefined, 'each response of the thread has a request');
      job.resolve(read);
      this.#next();
    });
    const fail = (error: Error): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#spare = [];
      this.#fail(error);
    };
    worker.on('error', fail);
    worker.on('messageerror', fail);
    worker.on('exit', () => fail(new Error('the search text thread exited')));
    return worker;
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#spare = [];
    void worker?.terminate(); // no caller waits for the termination
  }

  #fail(error: Error): void {
    for (const { reject } of [...this.#running.splice(0), ...this.#waiting.splice(0)])
      reject(error);
  }
}

function packRows(rows: readonly Row[], spare: Buffer | undefined): PackedParts {
  const starts = new Uint32Array(rows.length + 1);
  let end = 0;
  for (const [index, { sizeBytes }] of rows.entries()) {
    end += sizeBytes;
    starts[index + 1] = end;
  }
  const isEnough = spare !== undefined && spare.length >= end;
  const bytes = isEnough ? spare : Buffer.allocUnsafeSlow(Math.ceil(end * ROOM_TO_GROW));
  for (const [index, row] of rows.entries()) row.copyTo(bytes, starts[index] ?? 0);
  return { bytes, starts };
}
