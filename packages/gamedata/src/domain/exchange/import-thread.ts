import { Worker } from 'node:worker_threads';
import { gameDataError, type ValidationDetail } from '../../errors.js';
import { Slices } from '../data/slices.js';
import {
  type ImportBatch,
  type ImportHead,
  type ImportSource,
  readImport,
} from './import-batches.js';

/** An import that is being read. Whoever opened it closes it. */
export interface OpenImport {
  readonly head: ImportHead;
  /** Read once, and each batch gone when the next is asked for. Throws `validation_failed`, `too_large`, `SyntaxError` and `PiecesBroken`. */
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
 * A batch on its way from the thread. Records travel as JSON: what is parsed has just the size of its contents, while
 * objects and lists that threads hand over themselves keep room to grow for as long as they live.
 */
export type SentBatch = Omit<ImportBatch, 'records'> & { readonly records: string };

/** A batch was read, and this is the memory of its texts. */
export type ToImportThread = Uint8Array;

export const BATCH_SIZE = 512;
/** The thread waits when so many batches were not taken yet. */
export const MAX_BATCHES_AHEAD = 4;
/** Less than this is read in the time that a thread takes to start. */
const MIN_THREAD_SIZE_BYTES = 512 * 1024;
const SMALL_BATCH_SIZE = 32;

/**
 * Begins to read an import. A large one is read in a thread of its own: nobody waits for it, and the memory of what
 * was parsed goes back when the thread ends. Such bytes are handed over and are gone for the caller.
 */
export async function openImport(source: ImportSource): Promise<OpenImport> {
  if (source.bytes.length >= MIN_THREAD_SIZE_BYTES) return await ImportThread.open(source);
  const { head, batches } = readImport(source, SMALL_BATCH_SIZE);
  return { head, batches: yieldBetween(batches), close: async () => {} };
}

async function* yieldBetween(batches: Iterable<ImportBatch>): AsyncGenerator<ImportBatch> {
  const slices = new Slices();
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
      transferList: [own.buffer as ArrayBuffer], // its own one, or the copy's
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
      yield { ...rest, records: JSON.parse(records) as ImportBatch['records'] }; // as the thread has written them
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
  return new Error('the thread of an import answers out of turn');
}

/** What a thread says, in order. */
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
    worker.on('exit', () => fail(new Error('the thread of an import ended too early')));
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

  /** Lets the thread read one more batch, into the memory of this one. */
  release(texts: Uint8Array): void {
    const buffer = texts.buffer as ArrayBuffer; // came from the thread, nobody else has it
    const returned: ToImportThread = new Uint8Array(buffer);
    this.#worker.postMessage(returned, [buffer]);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
