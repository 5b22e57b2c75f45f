import type { FileSystem } from '../fs/file-system.js';
import { LogFileReader } from './log-file-reader.js';
import { END_MARK_SIZE, FILE_HEADER_SIZE, type FileHeader } from './log-format.js';
import { rebuildHeader } from './log-resync.js';

/** Content of one log file. */
export interface CheckedFile {
  /** Also set for a damaged header whose original values are certain. */
  readonly header: FileHeader | undefined;
  readonly isHeaderIntact: boolean;
  readonly nextSequence: number;
  readonly goodBytes: number;
  /** Size without the preallocated zeros at the end. */
  readonly sizeBytes: number;
  readonly hasBytesBehind: boolean;
  /** A synced record or the mark of a clean stop follows the corrupt bytes, so they are not a torn write. */
  readonly isFollowed: boolean;
  /** A clean stop marked the end of the records, which is `sizeBytes`. */
  readonly isEndKnown: boolean;
  /** The bytes after the records are not part of a record. */
  readonly isRemnant: boolean;
}

export async function checkFile(
  fileSystem: FileSystem,
  path: string,
  { file, nodeId }: { readonly file: number; readonly nodeId: string },
): Promise<CheckedFile> {
  const handle = await fileSystem.open(path, 'r');
  try {
    const reader = await LogFileReader.over(handle);
    const header = await reader.header();
    if (header === undefined || header.file !== file) {
      // The header is synced before the first record is written, so the header may only be missing in a file without records.
      const sizeBytes = await reader.dataEnd(0);
      return {
        header: await rebuildHeader(reader, file, nodeId),
        isHeaderIntact: false,
        nextSequence: 0,
        goodBytes: 0,
        sizeBytes,
        hasBytesBehind: sizeBytes < reader.sizeBytes,
        // The mark of a clean stop is shorter than any record.
        isFollowed: sizeBytes > FILE_HEADER_SIZE + END_MARK_SIZE,
        isEndKnown: false,
        isRemnant: false,
      };
    }
    let offset = FILE_HEADER_SIZE;
    let nextSequence = header.firstSequence;
    while (offset < reader.sizeBytes) {
      const record = await reader.recordAt(offset, header.seed);
      if (record === undefined || record.sequence !== nextSequence) break;
      offset = record.endOffset;
      nextSequence += 1;
    }
    const markAt = await markedEnd(reader, offset, header.seed);
    const sizeBytes = markAt ?? (await reader.dataEnd(offset));
    const isEndKnown = markAt !== undefined;
    const isFollowed =
      offset < sizeBytes &&
      (isEndKnown ||
        // Nothing is ever written after a mark.
        (await reader.hasEndMark(offset, header.seed)) ||
        (await reader.hasLaterBatch(offset, header.seed)));
    return {
      header,
      isHeaderIntact: true,
      nextSequence,
      goodBytes: offset,
      sizeBytes,
      hasBytesBehind: sizeBytes < reader.sizeBytes,
      isFollowed,
      isEndKnown,
      isRemnant: offset < sizeBytes && (await reader.isRemnant(offset)),
    };
  } finally {
    await handle.close();
  }
}

/**
 * Returns the end of the records as a clean stop marked it: after the last good record, or after damage at the end of
 * the file.
 */
async function markedEnd(
  reader: LogFileReader,
  goodBytes: number,
  seed: number,
): Promise<number | undefined> {
  for (const offset of [goodBytes, reader.sizeBytes - END_MARK_SIZE]) {
    const markEnd = offset + END_MARK_SIZE;
    const isMark = offset >= goodBytes && (await reader.hasEndMark(offset, seed));
    if (isMark && (await reader.dataEnd(markEnd)) === markEnd) return offset;
  }
  return undefined;
}
