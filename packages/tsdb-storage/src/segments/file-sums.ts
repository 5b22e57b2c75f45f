import {
  asOutage,
  type ChecksumThread,
  Exclusive,
  isDomainError,
  type ObjectStore,
  StoreOutage,
} from '@plinth/kernel';

/** Size of one read. The next piece is read while the previous one is checksummed. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** A stored file whose bytes differ from the written bytes. */
export class FileDamaged extends Error {
  override readonly name = 'FileDamaged';
  readonly kind = 'file_damaged';
  readonly objectName: string;
  constructor(options: { objectName: string; found: string }) {
    super(
      `stored file ${options.objectName} is corrupt (${options.found}); restore it from a backup, or start once with --repair to quarantine it`,
    );
    this.objectName = options.objectName;
  }
}

export interface FileSum {
  readonly sizeBytes: number;
  /** CRC32C of the complete file. */
  readonly checksum: number;
}

/**
 * Computes checksums of stored files, one file at a time in call order, with at most two pieces in
 * memory. Callers with many files should request them one after another, so that others wait for
 * only one file of each caller.
 */
export class FileSums {
  readonly #objects: ObjectStore;
  readonly #thread: ChecksumThread;
  readonly #line = new Exclusive();

  constructor(objects: ObjectStore, thread: ChecksumThread) {
    this.#objects = objects;
    this.#thread = thread;
  }

  /** Reads at most one byte more than expected. */
  async sum(objectName: string, expectedBytes: number): Promise<FileSum> {
    return await this.#line.run(() => this.#sum(objectName, expectedBytes));
  }

  /**
   * Reads the complete file. Throws `FileDamaged` if the file is missing or its bytes differ from
   * the written bytes, and `StoreOutage` if the store fails: the file may be intact.
   */
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
      const pieceBytes = piece.byteLength; // The length is 0 after the transfer to the thread.
      const seed = await summing;
      summing = this.#thread.sum(piece, seed);
      summing.catch(() => undefined); // Awaited after the next piece is read.
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
      throw toReadFailure(objectName, cause);
    }
  }
}

/**
 * Converts a read error. Only a missing file counts as corrupt; any other error is a store failure,
 * which may be temporary.
 */
function toReadFailure(objectName: string, cause: unknown): unknown {
  if (isDomainError(cause) && cause.kind === 'object_not_found')
    return new FileDamaged({ objectName, found: cause.message });
  if (asOutage(cause) !== undefined) return cause;
  const code = Reflect.get(Object(cause), 'code');
  const reason =
    typeof code === 'string' ? `the store reports ${code}` : 'the store does not respond';
  return new StoreOutage(
    cause,
    `stored file ${objectName} cannot be read (${reason}); check the disk or the object store and try again`,
  );
}
