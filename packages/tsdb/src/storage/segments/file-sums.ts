import { asDiskFull, type ChecksumThread, Exclusive, type ObjectStore } from '@plinth/kernel';

/** Read and summed as one; another is read meanwhile. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** A stored file whose bytes are not those that were written. */
export class FileDamaged extends Error {
  override readonly name = 'FileDamaged';
  readonly kind = 'file_damaged';
  readonly objectName: string;
  constructor(at: { objectName: string; found: string }) {
    super(
      `stored file ${at.objectName} is damaged (${at.found}); restore it from a copy, or start once with --repair to go on without it`,
    );
    this.objectName = at.objectName;
  }
}

export interface FileSum {
  readonly sizeBytes: number;
  /** CRC32C of the whole file. */
  readonly checksum: number;
}

/**
 * Sums stored files, one at a time in the order of the calls: two pieces of one file are all that is in memory. Who has many
 * files asks for one after the other, so that nobody waits for more than a file of each who asks.
 */
export class FileSums {
  readonly #objects: ObjectStore;
  readonly #thread: ChecksumThread;
  readonly #line = new Exclusive();

  constructor(objects: ObjectStore, thread: ChecksumThread) {
    this.#objects = objects;
    this.#thread = thread;
  }

  /** Reads up to one byte more than expected. */
  async sum(objectName: string, expectedBytes: number): Promise<FileSum> {
    return await this.#line.run(() => this.#sum(objectName, expectedBytes));
  }

  /** Reads all of the file. Throws `FileDamaged` unless the stored bytes are those that were written. */
  async verify(file: FileSum & { readonly objectName: string }): Promise<void> {
    const { objectName } = file;
    const { sizeBytes, checksum } = await this.sum(objectName, file.sizeBytes);
    if (sizeBytes !== file.sizeBytes) {
      throw new FileDamaged({
        objectName,
        found: `${sizeBytes} bytes instead of ${file.sizeBytes}`,
      });
    }
    if (checksum !== file.checksum) {
      throw new FileDamaged({ objectName, found: 'its checksum does not match' });
    }
  }

  async #sum(objectName: string, expectedBytes: number): Promise<FileSum> {
    let sizeBytes = 0;
    let summing = Promise.resolve(0);
    for (;;) {
      const end = Math.min(sizeBytes + PIECE_BYTES, expectedBytes + 1);
      const piece = await this.#read(objectName, { start: sizeBytes, end });
      const pieceBytes = piece.byteLength; // It has none once it is handed over.
      const seed = await summing;
      summing = this.#thread.sum(piece, seed);
      summing.catch(() => undefined); // It is awaited, after the next piece was read.
      sizeBytes += pieceBytes;
      if (pieceBytes < PIECE_BYTES || sizeBytes > expectedBytes) break;
    }
    return { sizeBytes, checksum: await summing };
  }

  async #read(
    objectName: string,
    range: { readonly start: number; readonly end: number },
  ): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await this.#objects.get(objectName, range);
    } catch (cause) {
      if (asDiskFull(cause) !== undefined) throw cause; // It could not be opened, and may be whole.
      const found = cause instanceof Error ? cause.message : 'unreadable';
      throw new FileDamaged({ objectName, found });
    }
  }
}
