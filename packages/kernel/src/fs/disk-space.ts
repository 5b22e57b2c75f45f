import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../clock/clock.js';
import { messageOf } from '../errors/message-of.js';
import type { Logger } from '../log/logger.js';
import { DiskFull } from './disk-full.js';
import type { FileSystem } from './file-system.js';
import { freeBytesOf } from './free-bytes.js';

/** Preallocated file. Its content has no meaning and is never read. */
const RESERVE_FILE = 'disk-reserve';
const CHECK_INTERVAL_MS = 1000;
/**
 * Writes resume at this multiple of the free space at which they were refused. Otherwise the state would change with
 * every file.
 */
const RESUME_FACTOR = 17 / 16;
/** An early check runs after this share of `minFreeBytes` was written. */
const WRITTEN_SHARE = 1 / 8;
const LEAST_WRITTEN_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** Refuses writes before the disk is full. */
export interface FreeDiskSpace {
  /** Why writes are refused; `undefined` while they are accepted. */
  readonly obstacle: DiskFull | undefined;
  /**
   * Whether background work may write this many bytes. While writes are refused, the remaining space is reserved for
   * deletions.
   */
  hasSpaceFor(sizeBytes: number): boolean;
  /** Call after writes; large ones are counted before the next check. */
  noteWritten(sizeBytes: number): void;
}

export interface DiskSpaceOptions {
  readonly files: FileSystem;
  /** An existing folder that belongs to this process. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Writes are refused when fewer bytes are free. */
  readonly minFreeBytes: number;
  /** Size of the file that is released for deletions on a full disk; 0 for none. */
  readonly reserveBytes: number;
  /** Returns the free space for this process on the disk of `folder`. */
  readonly readFreeBytes?: (folder: string) => Promise<number>;
}

/**
 * Free space on the disk of the data folder. While less than `minFreeBytes` is free, writes are refused; queries and deletions
 * work. Other programs can still fill the disk. Then half of a preallocated file is released for deletions, and a
 * server that starts on a full disk releases the other half. The file is filled again when there is room for it in
 * addition to `minFreeBytes`.
 */
export class DiskSpace implements FreeDiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #path: string;
  /** Size of the reserve after the running server has released its half. */
  readonly #startBytes: number;
  #freeBytes = Number.POSITIVE_INFINITY;
  #reserveBytes = 0;
  #obstacle: DiskFull | undefined;
  #writtenBytes = 0;
  #refreshing: Promise<void> | undefined;
  #ticker: Disposable | undefined;
  #isFailing = false;

  /** Checks once, then every second. */
  static async open(options: DiskSpaceOptions): Promise<DiskSpace> {
    const space = new DiskSpace(options);
    await space.#open();
    return space;
  }

  private constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#path = join(options.folder, RESERVE_FILE);
    this.#startBytes = Math.floor(options.reserveBytes / 2);
  }

  get obstacle(): DiskFull | undefined {
    return this.#obstacle;
  }

  /** Call after everything else has started: on a full disk without a reserve, startup may have failed. */
  logIfFull(): void {
    if (this.#obstacle === undefined) return;
    const { folder, minFreeBytes, log } = this.#options;
    log.error(
      { folder, freeBytes: this.#freeBytes, minFreeBytes },
      'disk is full; starting read-only: queries and deletions work, writes are refused',
    );
  }

  hasSpaceFor(sizeBytes: number): boolean {
    if (this.#obstacle === undefined || sizeBytes === 0) return true;
    return sizeBytes <= this.#freeBytes - this.#options.reserveBytes;
  }

  noteWritten(sizeBytes: number): void {
    this.#writtenBytes += sizeBytes;
    const share = this.#options.minFreeBytes * WRITTEN_SHARE;
    if (this.#writtenBytes >= Math.max(LEAST_WRITTEN_BYTES, share)) void this.refresh();
  }

  /** Resolves with a state read after the call, or with a read that was already running. Never rejects. */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh()
      .then(() => {
        this.#isFailing = false;
      })
      .catch((error: unknown) => this.#noteFailure(error))
      .finally(() => {
        this.#refreshing = undefined;
      });
    await this.#refreshing;
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    await this.#refreshing;
  }

  async #open(): Promise<void> {
    const { files, clock, reserveBytes } = this.#options;
    this.#reserveBytes = (await files.stat(this.#path))?.sizeBytes ?? 0;
    if (reserveBytes === 0 && this.#reserveBytes > 0) await this.#shrink(0);
    await this.#readFree().catch((error: unknown) => this.#noteFailure(error));
    if (this.#freeBytes < this.#startBytes) await this.#shrink(0);
    this.#updateObstacle(); // The first check fills the reserve, so that startup is not delayed.
    this.#ticker = clock.every(CHECK_INTERVAL_MS, () => this.refresh());
  }

  async #refresh(): Promise<void> {
    const { reserveBytes } = this.#options;
    this.#writtenBytes = 0;
    await this.#readFree();
    if (this.#freeBytes < this.#startBytes && this.#reserveBytes > this.#startBytes) {
      this.#updateObstacle(); // Writes must not use the released space.
      await this.#shrink(this.#startBytes);
    }
    this.#updateObstacle();
    if (this.#obstacle === undefined && this.#reserveBytes < reserveBytes) await this.#fill();
  }

  /** The missing part of the reserve counts as used, because the reserve is filled before other data is stored. */
  #updateObstacle(): void {
    const { minFreeBytes, reserveBytes } = this.#options;
    const room = this.#freeBytes - Math.max(0, reserveBytes - this.#reserveBytes);
    const leastBytes = Math.max(minFreeBytes, this.#startBytes);
    const neededBytes = this.#obstacle === undefined ? leastBytes : leastBytes * RESUME_FACTOR;
    if (room >= neededBytes) this.#obstacle = undefined;
    else this.#obstacle ??= DiskFull.low();
  }

  async #readFree(): Promise<void> {
    const { folder, readFreeBytes = freeBytesOf } = this.#options;
    this.#freeBytes = await readFreeBytes(folder);
  }

  async #shrink(sizeBytes: number): Promise<void> {
    if (this.#reserveBytes <= sizeBytes) return;
    const { files, folder, log } = this.#options;
    const releasedBytes = this.#reserveBytes - sizeBytes;
    if (sizeBytes === 0) await files.remove(this.#path);
    else {
      const file = await files.open(this.#path, 'r+');
      await file.truncate(sizeBytes).finally(() => file.close());
    }
    this.#reserveBytes = sizeBytes;
    await this.#readFree();
    log.warn({ folder, releasedBytes }, 'reserved disk space released for deletions');
  }

  async #fill(): Promise<void> {
    const { files, reserveBytes } = this.#options;
    const file = await files.open(this.#path, this.#reserveBytes === 0 ? 'w' : 'r+');
    // File systems with compression would allocate no blocks for zeros.
    const bytes = randomBytes(CHUNK_BYTES);
    try {
      while (this.#reserveBytes < reserveBytes) {
        const chunk = bytes.subarray(0, reserveBytes - this.#reserveBytes);
        await file.write([chunk], this.#reserveBytes);
        this.#reserveBytes += chunk.byteLength;
      }
    } finally {
      await file.close();
    }
  }

  /** Keeps the last known result. On a full disk, the write itself fails. */
  #noteFailure(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const { folder, log } = this.#options;
    log.warn({ folder, why: messageOf(error) }, 'cannot check free disk space');
  }
}
