import { promises as disk } from 'node:fs';
import { dirname } from 'node:path';
import type { FileHandle, FileStat, FileSystem, OpenMode } from './file-system.js';
import { openNodeFile } from './node-file-handle.js';

/** Windows refuses to flush a folder (EPERM); NTFS notes names in its own log. */
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
    const first = await disk.mkdir(path, { recursive: true });
    if (first === undefined) return;
    // Each new folder is a name in its parent, from the deepest up to the parent of the first one made.
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
      // A part of the path is a file, so nothing is below it.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (found === undefined) return undefined;
    return {
      sizeBytes: found.size,
      isDirectory: found.isDirectory(),
      modifiedMs: found.mtimeMs,
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

async function orIfMissing<T, M>(found: Promise<T>, missing: M): Promise<T | M> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return missing; // Node's file errors carry a code
    throw error;
  }
}
