import {
  close,
  constants,
  fdatasync,
  fstat,
  ftruncate,
  open,
  read,
  readSync,
  write,
  writev,
} from 'node:fs';
import { invariant } from '../errors/invariant.js';
import { fileError } from './file-error.js';
import type { FileHandle, OpenMode } from './file-system.js';

// Files opened for writing are also readable.
const { O_CREAT, O_DSYNC, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC } = constants;
const FLAGS: Readonly<Record<OpenMode, number>> = {
  r: O_RDONLY,
  'r+': O_RDWR,
  wx: O_RDWR | O_CREAT | O_EXCL,
  w: O_RDWR | O_CREAT | O_TRUNC,
};

/** On Windows the flag is missing; on macOS it guarantees less than `fdatasync` (F_FULLFSYNC). */
const HAS_SYNCED_WRITES = process.platform === 'linux';

/** Linux accepts at most 1024 parts in one call (IOV_MAX). */
const MAX_PART_COUNT = 1024;

/** Wraps a file descriptor. Callbacks cost half as much per call as `fs.promises`, and the log makes many calls. */
class NodeFileHandle implements FileHandle {
  readonly #number: number;
  readonly #path: string;
  readonly #syncsAfterWrite: boolean;
  #closing: Promise<void> | undefined;

  constructor(descriptor: number, path: string, syncsAfterWrite: boolean) {
    this.#number = descriptor;
    this.#path = path;
    this.#syncsAfterWrite = syncsAfterWrite;
  }

  /** Throws after `close`: the descriptor may already belong to another file, which a late truncation would damage. */
  get #descriptor(): number {
    invariant(this.#closing === undefined, `${this.#path} must not be used after it is closed`);
    return this.#number;
  }

  async read(target: Uint8Array, position: number): Promise<number> {
    let done = 0;
    while (done < target.byteLength) {
      const count = await this.#readSome(target, done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  readNow(target: Uint8Array, position: number): number {
    let done = 0;
    while (done < target.byteLength) {
      const length = target.byteLength - done;
      const count = readSync(this.#descriptor, target, done, length, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  async write(parts: readonly Uint8Array[], position: number): Promise<void> {
    let rest = parts;
    let at = position;
    while (rest.length > 0) {
      const some = rest.length > MAX_PART_COUNT ? rest.slice(0, MAX_PART_COUNT) : rest;
      const written = await this.#writeSome(some, at);
      at += written;
      rest = withoutFirst(rest, written);
    }
    if (this.#syncsAfterWrite) await this.sync();
  }

  async sync(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      fdatasync(this.#descriptor, (error) =>
        error === null ? resolve() : reject(fileError('sync_failed', this.#path, error)),
      );
    });
  }

  async truncate(sizeBytes: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      ftruncate(this.#descriptor, sizeBytes, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  }

  async sizeBytes(): Promise<number> {
    return await new Promise<number>((resolve, reject) => {
      fstat(this.#descriptor, (error, found) =>
        error === null ? resolve(found.size) : reject(error),
      );
    });
  }

  async close(): Promise<void> {
    this.#closing ??= new Promise<void>((resolve, reject) => {
      close(this.#number, (error) => (error ? reject(error) : resolve()));
    });
    await this.#closing;
  }

  async #readSome(target: Uint8Array, offset: number, position: number): Promise<number> {
    return await new Promise<number>((resolve, reject) => {
      const length = target.byteLength - offset;
      read(this.#descriptor, target, offset, length, position, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    });
  }

  #writeSome(parts: readonly Uint8Array[], position: number): Promise<number> {
    const [first] = parts;
    return new Promise<number>((resolve, reject) => {
      const done = (error: Error | null, written: number): void =>
        error === null ? resolve(written) : reject(error);
      // Short records are a single part, and writing a single part is cheaper than writing a list.
      if (parts.length === 1 && first !== undefined)
        write(this.#descriptor, first, 0, first.byteLength, position, done);
      else writev(this.#descriptor, parts, position, done);
    });
  }
}

export async function openNodeFile(
  path: string,
  mode: OpenMode,
  writes: 'buffered' | 'synced',
  access: 'shared' | 'private' = 'shared',
): Promise<FileHandle> {
  const isSynced = writes === 'synced';
  const flags = isSynced && HAS_SYNCED_WRITES ? FLAGS[mode] | O_DSYNC : FLAGS[mode];
  const descriptor = await new Promise<number>((resolve, reject) => {
    open(path, flags, access === 'private' ? 0o600 : 0o666, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
  return new NodeFileHandle(descriptor, path, isSynced && !HAS_SYNCED_WRITES);
}

function withoutFirst(parts: readonly Uint8Array[], sizeBytes: number): Uint8Array[] {
  let skip = sizeBytes;
  const rest: Uint8Array[] = [];
  for (const part of parts) {
    if (skip >= part.byteLength) skip -= part.byteLength;
    else {
      rest.push(skip === 0 ? part : part.subarray(skip));
      skip = 0;
    }
  }
  return rest;
}
