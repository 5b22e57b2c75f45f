/**
 * Everything that touches a disk goes through this interface, so that a simulated implementation can
 * fail, tear and forget writes. Paths are absolute. Errors are Node's (`code` such as `ENOENT`, `ENOSPC`).
 */
export interface FileSystem {
  /**
   * With `synced`, bytes and what is needed to read them again are durable when a `write` resolves (O_DSYNC). A file
   * that is made `private` can be read and written by its owner alone (mode 0600).
   */
  open(
    path: string,
    mode: OpenMode,
    writes?: 'buffered' | 'synced',
    access?: 'shared' | 'private',
  ): Promise<FileHandle>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for `existing`; fails with `EEXIST` when `name` is taken. */
  link(existing: string, name: string): Promise<void>;
  /** Removes a file; a missing one is no error. */
  remove(path: string): Promise<void>;
  /** Removes a folder with all that is in it; a missing one is no error. */
  removeTree(path: string): Promise<void>;
  /** Makes the folder and its missing parents; durable when it resolves. */
  makeDirectory(path: string): Promise<void>;
  /** Names in the folder, ascending; a missing folder has none. */
  list(path: string): Promise<readonly string[]>;
  stat(path: string): Promise<FileStat | undefined>;
  /** Makes created, renamed and removed names of the folder durable, where the system can be told to. */
  syncDirectory(path: string): Promise<void>;
}

/** `r` read, `r+` read and write an existing file, `wx` create and fail if it exists, `w` create or truncate. */
export type OpenMode = 'r' | 'r+' | 'wx' | 'w';

export interface FileHandle {
  /** Reads into `target` from `position`; returns how many bytes there were (fewer only at the end). */
  read(target: Uint8Array, position: number): Promise<number>;
  /** As `read`, but everybody waits: for a few kilobytes at a time that the system most likely has in memory. */
  readNow(target: Uint8Array, position: number): number;
  /** Writes all parts one after the other from `position` on; a short write is continued or throws. */
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
  /** Rights of owner, group and others (`0o600`). */
  readonly mode: number;
}
