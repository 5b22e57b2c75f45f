import { type FileHandle, type FileSystem, invariant, type Logger } from '@plinth/kernel';
import { FreeRoom, type Region } from './free-room.js';

/** Texts of many records in one piece, in memory or in the file. */
export interface TextPiece {
  /** Bytes `[start, end)` of the piece; not to be written to, and overwritten by the next call. */
  view(start: number, end: number): Buffer;
}

/** Whoever reads one text after the other reads this much at once. */
const READ_AHEAD_SIZE_BYTES = 64 * 1024;

/**
 * Texts of records: the first ones in memory, as far as they have room there, all others in a file of this process. The
 * file repeats what versions and drafts have stored elsewhere, so nothing of it needs to outlive the process: it has no name
 * once it is open, and its space goes back however the process ends. What is read often stays in the page cache of the
 * system, which gives it up when others need the memory. When the disk refuses a piece, that stays in memory.
 */
export class TextStore {
  readonly #at: { readonly fileSystem: FileSystem; readonly folder: string };
  readonly #log: Logger;
  readonly #memoryLimitBytes: number;
  #memoryBytes = 0;
  /** Whether it was told that the disk refused a piece. */
  #isToldOfRefusal = false;
  #opening: Promise<TextFile> | undefined;
  readonly #room = new FreeRoom();
  readonly #inMemory = new FinalizationRegistry<number>((sizeBytes) => {
    this.#memoryBytes -= sizeBytes;
  });
  readonly #inFile = new FinalizationRegistry<Region>((region) => this.#room.give(region));

  constructor(needs: {
    readonly fileSystem: FileSystem;
    readonly folder: string;
    readonly log: Logger;
    readonly memoryLimitBytes: number;
  }) {
    this.#at = needs;
    this.#log = needs.log;
    this.#memoryLimitBytes = needs.memoryLimitBytes;
  }

  /** @param bytes the caller's own again when it resolves. */
  async put(bytes: Buffer): Promise<TextPiece> {
    if (this.#memoryBytes + bytes.length <= this.#memoryLimitBytes) return this.#hold(bytes);
    const region = this.#room.take(bytes.length);
    try {
      const file = await this.#open();
      await file.handle.write([bytes], region.start);
      const piece = new FilePiece(file, region);
      this.#inFile.register(piece, region);
      return piece;
    } catch (err) {
      this.#room.give(region);
      this.#warnOnce(err);
      return this.#hold(bytes);
    }
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    const file = await opening?.catch(() => undefined); // Told when it was written to.
    await file?.handle.close();
  }

  /** A set has hundreds of pieces, and a disk that refuses one refuses most of them. */
  #warnOnce(err: unknown): void {
    if (this.#isToldOfRefusal) return;
    this.#isToldOfRefusal = true;
    const message = 'texts of game data stay in memory: the file for them cannot be written';
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
        this.#opening = undefined; // The next piece tries again.
      });
    }
    return this.#opening;
  }

  async #create(): Promise<TextFile> {
    const { fileSystem, folder } = this.#at;
    await fileSystem.makeDirectory(folder);
    const path = `${folder}/texts.tmp`;
    const file = await fileSystem.open(path, 'w', 'buffered', 'private');
    // Where an open file keeps its name, the next process empties it.
    await fileSystem.remove(path).catch(() => undefined);
    return new TextFile(file);
  }
}

/** The file and what was read of it last. */
class TextFile {
  readonly handle: FileHandle;
  /** A piece that lies in `#bytes` is kept by that, so its space cannot get other bytes meanwhile. */
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
      const wanted = isNext ? Math.max(end, start + READ_AHEAD_SIZE_BYTES) : end;
      this.#load(piece, start, Math.min(wanted, piece.sizeBytes));
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
    invariant(count === sizeBytes, 'a piece has all that was written of it');
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
