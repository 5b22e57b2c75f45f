import { Worker } from 'node:worker_threads';
import { gameDataError, type ValidationDetail } from '../../errors.js';
import { TimeSlices } from '../data/time-slices.js';
import {
  type ImportBatch,
  type ImportHead,
  type ImportSource,
  readImport,
} from './import-batches.js';

/** An import that is being read. Its creator must close it. */
export interface OpenImport {
  readonly head: ImportHead;
  /**
   * Iterable once; each batch is invalid after the next one is requested. Throws
   * `validation_failed`, `too_large`, `SyntaxError` and `PiecesBroken`.
   */
  readonly batches: AsyncIterable<ImportBatch>;
  close(): Promise<void>;
}

export type FromImportThread =
  | { readonly head: ImportHead }
  | { readonly batch: SentBatch }
  | { readonly isDone: true }
  | {
      readonly refused: { readonly message: string; readonly details: readonly ValidationDetail[] };
    }
  | { readonly tooLarge: { readonly maxRecordCount: number } }
  | { readonly unreadable: string };

/**
 * A batch as the thread posts it. Records are sent as JSON, because parsed values have no spare
 * capacity, unlike structured clones.
 */
export type SentBatch = Omit<ImportBatch, 'records'> & { readonly records: string };

/** Returns the text buffer of a processed batch to the thread. */
export type ToImportThread = Uint8Array;

export const BATCH_SIZE = 512;
/** Maximum number of batches that the thread reads ahead. */
export const MAX_BATCHES_AHEAD = 4;
/** Reading this many bytes takes less time than starting a thread. */
const MIN_THREAD_SIZE_BYTES = 512 * 1024;
const SMALL_BATCH_SIZE = 32;

/**
 * Starts reading an import. A large one is read in its own thread, which does not block the event
 * loop and frees its memory at the end.
 * The bytes of a large import are transferred, so the caller must not use them afterwards.
 */
export async function openImport(source: ImportSource): Promise<OpenImport> {
  if (source.bytes.length >= MIN_THREAD_SIZE_BYTES) return await ImportThread.open(source);
  const { head, batches } = readImport(source, SMALL_BATCH_SIZE);
  return { head, batches: yieldBetween(batches), close: async () => {} };
}

async function* yieldBetween(batches: Iterable<ImportBatch>): AsyncGenerator<ImportBatch> {
  const slices = new TimeSlices();
  for (const batch of batches) {
    yield batch;
    await slices.check();
  }
}

class ImportThread implements OpenImport {
  readonly head: ImportHead;
  readonly batches: AsyncIterable<ImportBatch>;
  readonly #messages: ThreadMessages;

  private constructor(head: ImportHead, messages: ThreadMessages) {
    this.head = head;
    this.#messages = messages;
    this.batches = this.#read();
  }

  static async open({ bytes, ...about }: ImportSource): Promise<ImportThread> {
    const { buffer } = bytes;
    const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
    const own = isOwn ? bytes : Uint8Array.from(bytes);
    const source: ImportSource = { bytes: own, ...about };
    const worker = new Worker(new URL('./import-worker.js', import.meta.url), {
      name: 'game-data-import',
      workerData: source,
      transferList: [own.buffer as ArrayBuffer], // either the original buffer or the copy
    });
    const messages = new ThreadMessages(worker);
    try {
      const first = await messages.next();
      if (!('head' in first)) throw failureOf(first);
      return new ImportThread(first.head, messages);
    } catch (error) {
      await messages.end();
      throw error;
    }
  }

  async *#read(): AsyncGenerator<ImportBatch> {
    for (;;) {
      const message = await this.#messages.next();
      if ('isDone' in message) return;
      if (!('batch' in message)) throw failureOf(message);
      const { records, ...rest } = message.batch;
      yield { ...rest, records: JSON.parse(records) as ImportBatch['records'] }; // written by the thread
      this.#messages.release(rest.texts);
    }
  }

  async close(): Promise<void> {
    await this.#messages.end();
  }
}

function failureOf(message: FromImportThread): Error {
  if ('refused' in message) {
    return gameDataError('validation_failed', message.refused);
  }
  if ('tooLarge' in message) return gameDataError('too_large', message.tooLarge);
  if ('unreadable' in message) return new SyntaxError(message.unreadable);
  return new Error('unexpected message from the import thread');
}

/** Receives the messages of a thread in order. */
class ThreadMessages {
  readonly #worker: Worker;
  readonly #come: FromImportThread[] = [];
  #failure: Error | undefined;
  #wake = (): void => {};

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (message: FromImportThread) => {
      this.#come.push(message);
      this.#wake();
    });
    const fail = (error: Error): void => {
      this.#failure ??= error;
      this.#wake();
    };
    worker.on('error', fail);
    worker.on('messageerror', fail);
    worker.on('exit', () => fail(new Error('the import thread exited early')));
  }

  async next(): Promise<FromImportThread> {
    for (;;) {
      const message = this.#come.shift();
      if (message !== undefined) return message;
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Lets the thread read one more batch into this buffer. */
  release(texts: Uint8Array): void {
    const buffer = texts.buffer as ArrayBuffer; // received from the thread, with no other reference
    const returned: ToImportThread = new Uint8Array(buffer);
    this.#worker.postMessage(returned, [buffer]);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
