import { WorkerClient } from '@plinth/kernel';
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

/**
 * Reads the searchable strings of many rows in a worker thread. The thread stops when idle, which
 * frees its memory.
 */
export class TextThread {
  readonly #client = new WorkerClient<ToTextThread, FromTextThread>(
    new URL('./text-worker.js', import.meta.url),
    { name: 'game-data-texts', resourceLimits: HEAP_LIMITS },
  );
  /** Continue the reads that wait until fewer groups are in progress. */
  readonly #waiting: (() => void)[] = [];
  #runningCount = 0;
  /**
   * One buffer per group in progress, reused because allocating each group would fragment the heap.
   */
  #spare: Buffer[] = [];
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  async read({ rows, ...about }: TextsWanted): Promise<ReadTexts> {
    if (this.#runningCount >= MAX_AHEAD) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#runningCount += 1;
    try {
      if (this.#isClosed) throw shuttingDown();
      clearTimeout(this.#idle);
      const texts = packRows(rows, this.#spare.pop());
      // `packRows` allocated the buffer.
      const transfer = [texts.bytes.buffer as ArrayBuffer];
      const { read, spare } = await this.#client.request({ ...about, texts }, transfer);
      this.#spare.push(Buffer.from(spare.buffer, spare.byteOffset, spare.byteLength));
      return read;
    } finally {
      this.#next();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#client.stop(shuttingDown());
  }

  /** Passes the slot of a finished read to the next one. */
  #next(): void {
    const resume = this.#waiting.shift();
    if (resume !== undefined) {
      resume();
      return;
    }
    this.#runningCount -= 1;
    if (this.#runningCount > 0 || this.#isClosed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#spare = [];
      void this.#client.stop(shuttingDown()); // no read waits for it
    }, IDLE_MS).unref();
  }
}

const shuttingDown = (): Error => new Error('the server is shutting down');

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
