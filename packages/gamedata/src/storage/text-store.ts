import { type FileHandle, type FileSystem, invariant, type Logger } from '@plinth/kernel';
import { FreeRegions, type Region } from './free-regions.js';

/** Text of many records in one piece, in memory or in the file. */
export interface TextPiece {
  /** Bytes `[start, end)` of the piece. Read-only, and overwritten by the next call. */
  view(start: number, end: number): Buffer;
}

/** Read-ahead size for sequential reads. */
const READ_AHEAD_SIZE_BYTES = 64 * 1024;

/**
 * Stores the text of records: in memory up to a limit, and beyond it in a temporary file.
 * The file only repeats data that versions and drafts have stored elsewhere. It is unlinked once it
 * is open, so its space is freed however the process ends.
 * The page cache of the system speeds up frequent reads. If a write fails, the piece stays in
 * memory.
 */
export class TextStore {
  readonly #at: { readonly fileSystem: FileSystem; readonly folder: string };
  readonly #log: Logger;
  readonly #memoryLimitBytes: number;
  #memoryBytes = 0;
  /** Whether a failed write was logged. */
  #isToldOfRefusal = false;
  #opening: Promise<TextFile> | undefined;
  readonly #freeRegions = new FreeRegions();
  readonly #inMemory = new FinalizationRegistry<number>((sizeBytes) => {
    this.#memoryBytes -= sizeBytes;
  });
  readonly #inFile = new FinalizationRegistry<Region>((region) => this.#freeRegions.give(region));

  constructor(deps: {
    readonly fileSystem: FileSystem;
    readonly folder: string;
    readonly log: Logger;
    readonly memoryLimitBytes: number;
  }) {
    this.#at = deps;
    this.#log = deps.log;
    this.#memoryLimitBytes = deps.memoryLimitBytes;
  }

  /** @param bytes may be reused by the caller after the promise resolves. */
  async put(bytes: Buffer): Promise<TextPiece> {
    if (this.#memoryBytes + bytes.length <= this.#memoryLimitBytes) return this.#hold(bytes);
    const region = this.#freeRegions.take(bytes.length);
    try {
      const file = await this.#open();
      await file.handle.write([bytes], region.start);
      const piece = new FilePiece(file, region);
      this.#inFile.register(piece, region);
      return piece;
    } catch (err) {
      this.#freeRegions.give(region);
      this.#warnOnce(err);
      return this.#hold(bytes);
    }
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    const file = await opening?.catch(() => undefined); // the failed write was already logged
    await file?.handle.close();
  }

  /**
   * Logs only the first failure, because a set has hundreds of pieces and a full disk rejects most
   * of them.
   */
  #warnOnce(err: unknown): void {
    if (this.#isToldOfRefusal) return;
    this.#isToldOfRefusal = true;
    const message = 'cannot write the temporary file for game data; record text stays in memory';
    this.#log.warn({ err }, message);
  }

  #hold(bytes: Buffer): TextPiece {
    const own = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(own);
    const piece: TextPiece = { view: (start, end) => own.subarray(start, end) };
    this.#memoryBytes += bytes.length;
    this.#inMemory.register(piece, bytes.length);
    return piece;
  }

  #open(): Promise<TextFile> {
    if (this.#opening === undefined) {
      this.#opening = this.#create();
      this.#opening.catch(() => {
        this.#opening = undefined; // the next piece retries
      });
    }
    return this.#opening;
  }

  async #create(): Promise<TextFile> {
    const { fileSystem, folder } = this.#at;
    await fileSystem.makeDirectory(folder);
    const path = `${folder}/texts.tmp`;
    const file = await fileSystem.open(path, 'w', 'buffered', 'private');
    // On systems where an open file cannot be removed, the next process truncates it.
    await fileSystem.remove(path).catch(() => undefined);
    return new TextFile(file);
  }
}

/** The file and its read-ahead buffer. */
class TextFile {
  readonly handle: FileHandle;
  /** A reference to the piece whose bytes are in `#bytes` prevents its file region from being reused. */
  #piece: FilePiece | undefined;
  #bytes = Buffer.allocUnsafeSlow(READ_AHEAD_SIZE_BYTES);
  #from = 0;
  #to = 0;
  #lastEnd = 0;

  constructor(handle: FileHandle) {
    this.handle = handle;
  }

  read(piece: FilePiece, start: number, end: number): Buffer {
    const isHere = this.#piece === piece && start >= this.#from && end <= this.#to;
    if (!isHere) {
      const isNext = this.#piece === piece ? start === this.#lastEnd : start === 0;
      const readEnd = isNext ? Math.max(end, start + READ_AHEAD_SIZE_BYTES) : end;
      this.#load(piece, start, Math.min(readEnd, piece.sizeBytes));
    }
    this.#lastEnd = end;
    return this.#bytes.subarray(start - this.#from, end - this.#from);
  }

  #load(piece: FilePiece, start: number, end: number): void {
    const sizeBytes = end - start;
    if (sizeBytes > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(sizeBytes);
    this.#piece = undefined;
    const target = this.#bytes.subarray(0, sizeBytes);
    const count = this.handle.readNow(target, piece.region.start + start);
    invariant(count === sizeBytes, 'the text file ended within a piece');
    this.#piece = piece;
    this.#from = start;
    this.#to = end;
  }
}

class FilePiece implements TextPiece {
  readonly region: Region;
  readonly #file: TextFile;

  constructor(file: TextFile, region: Region) {
    this.#file = file;
    this.region = region;
  }

  get sizeBytes(): number {
    return this.region.end - this.region.start;
  }

  view(start: number, end: number): Buffer {
    return this.#file.read(this, start, end);
  }
}
