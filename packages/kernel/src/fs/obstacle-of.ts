import { constants, promises as disk } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../errors/message-of.js';
import { freeBytesOf } from './free-bytes.js';

/** What a new file of a library takes at least. */
const LEAST_ROOM_BYTES = 64 * 1024;

/**
 * Why a file cannot be opened for writing, or made, in words of the system: for failures of libraries that do not say. Nothing is
 * opened. `undefined`: nothing is known against it.
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
