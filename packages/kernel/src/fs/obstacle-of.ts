import { constants, promises as disk } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../errors/message-of.js';
import { freeBytesOf } from './free-bytes.js';

/** Minimum free space for a library to create a file. */
const LEAST_ROOM_BYTES = 64 * 1024;

/**
 * Returns the system's reason why a file cannot be opened for writing or created, for libraries that do not report it.
 * Opens nothing. Returns `undefined` when no reason is found.
 */
export async function obstacleOf(path: string): Promise<string | undefined> {
  const { R_OK, W_OK, X_OK } = constants;
  try {
    const folder = dirname(path);
    await disk.access(folder, W_OK | X_OK);
    const isThere = await disk.stat(path).then(
      () => true,
      () => false,
    );
    if (isThere) await disk.access(path, R_OK | W_OK);
    const freeBytes = await freeBytesOf(folder);
    return freeBytes < LEAST_ROOM_BYTES ? 'no space left on the disk' : undefined;
  } catch (error) {
    return messageOf(error);
  }
}
