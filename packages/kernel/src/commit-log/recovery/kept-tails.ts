import { join } from 'node:path';
import { asDiskFull } from '../../fs/disk-full.js';
import type { FileSystem } from '../../fs/file-system.js';
import { asideName, copyRange } from '../../fs/move-aside.js';
import { LogFileReader } from '../log-file-reader.js';
import { type FileHeader, logFileName, RECORD_HEADER_SIZE } from '../log-format.js';
import { MAX_DESCRIBED_COUNT } from '../log-loss.js';

/** A server that is killed repeatedly must not fill the disk: older files are removed. */
const MAX_KEPT_COUNT = 3;
const KEPT_TAIL = /^\d{12}\.log\.tail\.damaged$/;

/**
 * Copies the bytes that startup removes from the end of a log file to a file next to it.
 * @returns the copy; `undefined` if the disk is full, because the server must still start.
 */
export async function keepTail(options: {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly file: number;
  readonly offset: number;
  readonly end: number;
}): Promise<string | undefined> {
  const { fileSystem, directory, file, offset, end } = options;
  const path = join(directory, logFileName(file));
  const copy = asideName(`${path}.tail`);
  try {
    await copyRange(fileSystem, path, copy, { start: offset, end });
    await fileSystem.syncDirectory(directory);
  } catch (error) {
    if (asDiskFull(error) === undefined) throw error;
    await fileSystem.remove(copy);
    return undefined;
  }
  const names = (await fileSystem.list(directory)).filter((name) => KEPT_TAIL.test(name)).sort();
  for (const name of names.slice(0, -MAX_KEPT_COUNT))
    await fileSystem.remove(join(directory, name));
  return copy;
}

/** Describes the records from `offset` on whose headers are intact. */
export async function describeTail(
  fileSystem: FileSystem,
  path: string,
  options: {
    readonly header: FileHeader;
    readonly offset: number;
    readonly describe: (payload: Uint8Array) => string | undefined;
  },
): Promise<readonly string[]> {
  const { seed } = options.header;
  const handle = await fileSystem.open(path, 'r');
  try {
    const reader = await LogFileReader.over(handle);
    const content: string[] = [];
    let { offset } = options;
    while (content.length < MAX_DESCRIBED_COUNT) {
      const payload = await reader.payloadAt(offset, seed);
      if (payload === undefined) break;
      const text = options.describe(payload);
      if (text !== undefined) content.push(text);
      offset += RECORD_HEADER_SIZE + payload.byteLength;
    }
    return content;
  } finally {
    await handle.close();
  }
}
