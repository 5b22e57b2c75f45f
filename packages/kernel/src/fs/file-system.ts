/**
 * All disk access goes through this interface, so that a simulated implementation can
 * fail, tear and lose writes. Paths are absolute. Errors are Node's (`code` such as `ENOENT`, `ENOSPC`).
 */
export interface FileSystem {
  /**
   * With `synced`, the bytes and the metadata needed to read them are durable when a `write` resolves (O_DSYNC).
   * Only the owner can read and write a file created with `private` (mode 0600).
   */
  open(
    path: string,
    mode: OpenMode,
    writes?: 'buffered' | 'synced',
    access?: 'shared' | 'private',
  ): Promise<FileHandle>;
  rename(from: string, to: string): Promise<void>;
  /** Creates a hard link to `existing`; fails with `EEXIST` when `name` exists. */
  link(existing: string, name: string): Promise<void>;
  /** Removes a file; a missing file is not an error. */
  remove(path: string): Promise<void>;
  /** Removes a folder with its contents; a missing folder is not an error. */
  removeTree(path: string): Promise<void>;
  /** Creates the folder and its missing parents; durable when it resolves. */
  makeDirectory(path: string): Promise<void>;
  /** Returns the names in the folder, ascending; empty for a missing folder. */
  list(path: string): Promise<readonly string[]>;
  stat(path: string): Promise<FileStat | undefined>;
  /** Makes created, renamed and removed names in the folder durable, on systems that can sync a folder. */
  syncDirectory(path: string): Promise<void>;
}

/** `r` read, `r+` read and write an existing file, `wx` create and fail if it exists, `w` create or truncate. */
export type OpenMode = 'r' | 'r+' | 'wx' | 'w';

export interface FileHandle {
  /** Reads into `target` from `position`; returns the number of bytes read (fewer only at the end of the file). */
  read(target: Uint8Array, position: number): Promise<number>;
  /** Like `read`, but blocks the thread: use only for a few kilobytes that are probably in the page cache. */
  readNow(target: Uint8Array, position: number): number;
  /** Writes all parts in order from `position` on; a short write is continued or throws. */
  write(parts: readonly Uint8Array[], position: number): Promise<void>;
  /** Makes data durable (fdatasync). After a failure the file must not be synced again: see `sync_failed`. */
  sync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  sizeBytes(): Promise<number>;
  close(): Promise<void>;
}

export interface FileStat {
  readonly sizeBytes: number;
  readonly isDirectory: boolean;
  readonly modifiedMs: number;
  /** Permissions of owner, group and others (`0o600`). */
  readonly mode: number;
}
