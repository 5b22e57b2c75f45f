import { promises as disk } from 'node:fs';
import { dirname } from 'node:path';
import type { FileHandle, FileStat, FileSystem, OpenMode } from './file-system.js';
import { openNodeFile } from './node-file-handle.js';

/** Windows refuses to flush a folder (EPERM); NTFS journals names itself. */
const HAS_SYNCED_DIRECTORIES = process.platform !== 'win32';

/** The real disk. */
export class NodeFileSystem implements FileSystem {
  async open(
    path: string,
    mode: OpenMode,
    writes: 'buffered' | 'synced' = 'buffered',
    access: 'shared' | 'private' = 'shared',
  ): Promise<FileHandle> {
    return await openNodeFile(path, mode, writes, access);
  }

  async rename(from: string, to: string): Promise<void> {
    await disk.rename(from, to);
  }

  async link(existing: string, name: string): Promise<void> {
    await disk.link(existing, name);
  }

  async remove(path: string): Promise<void> {
    await orIfMissing(disk.unlink(path), undefined);
  }

  async removeTree(path: string): Promise<void> {
    await disk.rm(path, { recursive: true, force: true });
  }

  async makeDirectory(path: string): Promise<void> {
    const first = await makeFolders(path);
    if (first === undefined) return;
    // Each new folder is a name in its parent: sync from the deepest up to the parent of the first new folder.
    const end = dirname(first);
    for (let parent = dirname(path); ; parent = dirname(parent)) {
      await this.syncDirectory(parent);
      if (parent === end || parent === dirname(parent)) return;
    }
  }

  async list(path: string): Promise<readonly string[]> {
    return (await orIfMissing(disk.readdir(path), [])).sort();
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const found = await orIfMissing(disk.stat(path), undefined).catch((error: unknown) => {
      // A path component is a file, so nothing exists below it.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (found === undefined) return undefined;
    return {
      sizeBytes: found.size,
      isDirectory: found.isDirectory(),
      modifiedMs: found.mtimeMs,
      mode: found.mode & 0o777,
    };
  }

  async syncDirectory(path: string): Promise<void> {
    if (!HAS_SYNCED_DIRECTORIES) return;
    const folder = await disk.open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

/**
 * Returns the highest folder that was missing. Node's recursive `mkdir` loops forever where the system returns ENOENT
 * inside an existing folder, as in `/proc`.
 */
async function makeFolders(path: string): Promise<string | undefined> {
  const missing: string[] = []; // Deepest first; at most one entry per path component.
  let folder = path;
  let made = await makeFolder(folder);
  while (made instanceof Error && dirname(folder) !== folder) {
    missing.push(folder);
    folder = dirname(folder);
    made = await makeFolder(folder);
  }
  let first = made === true ? folder : undefined;
  for (const below of missing.reverse()) {
    made = await makeFolder(below);
    if (made instanceof Error) throw made;
    if (made) first ??= below;
  }
  if (made instanceof Error) throw made;
  return first;
}

/** Returns false when the folder existed, and the error when its parent is missing. */
async function makeFolder(path: string): Promise<boolean | Error> {
  try {
    await disk.mkdir(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // Node's file errors carry a code
    if (code === 'ENOENT') return error as Error;
    // Some systems refuse a name (EROFS, EPERM, EISDIR) before they test whether it exists.
    const found = await disk.stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) return false;
    throw error;
  }
}

async function orIfMissing<T, M>(found: Promise<T>, missing: M): Promise<T | M> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return missing; // Node's file errors carry a code
    throw error;
  }
}
