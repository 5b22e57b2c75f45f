import type { FileSystem } from '../../fs/file-system.js';
import { LogFileReader } from '../log-file-reader.js';
import { END_MARK_SIZE, FILE_HEADER_SIZE, type FileHeader, hasSalt } from '../log-format.js';
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
  readonly hasBytesAfter: boolean;
  /** A synced record or a marker follows the corrupt bytes, so they are not a torn write. */
  readonly isFollowed: boolean;
  /** All sectors of the corrupt record were written, so it is not a torn write. */
  readonly isWritten: boolean;
  /** The kind of marker at the end of the records (`sizeBytes`): of a clean shutdown or of an idle log. */
  readonly endMark: 'stop' | 'sync' | undefined;
  /** The bytes after the records belong to a write that was never acknowledged. */
  readonly isUnacknowledged: boolean;
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
      // The header is synced before the first record is written, so the header can be missing only in a file without records.
      const sizeBytes = await reader.dataEnd(0);
      return {
        header: await rebuildHeader(reader, file, nodeId),
        isHeaderIntact: false,
        nextSequence: 0,
        goodBytes: 0,
        sizeBytes,
        hasBytesAfter: sizeBytes < reader.sizeBytes,
        // The clean-shutdown marker is shorter than any record.
        isFollowed: sizeBytes > FILE_HEADER_SIZE + END_MARK_SIZE,
        isWritten: false,
        endMark: undefined,
        isUnacknowledged: false,
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
    return {
      ...{ header, isHeaderIntact: true, nextSequence, goodBytes: offset },
      ...(await checkEnd(reader, header, offset)),
    };
  } finally {
    await handle.close();
  }
}

/** Reads the bytes after the last good record, which ends at `goodBytes`. */
async function checkEnd(
  reader: LogFileReader,
  header: FileHeader,
  goodBytes: number,
): Promise<Omit<CheckedFile, 'header' | 'isHeaderIntact' | 'nextSequence' | 'goodBytes'>> {
  const { seed } = header;
  const dataEnd = await reader.dataEnd(goodBytes);
  const stopAt = await markedEnd(reader, { goodBytes, dataEnd }, seed);
  // Files without a salt contain no such marker, and clients could forge one.
  const syncedAt =
    stopAt === undefined && hasSalt(header)
      ? await syncedEnd(reader, { goodBytes, dataEnd }, seed)
      : undefined;
  const sizeBytes = stopAt ?? syncedAt ?? dataEnd;
  const isBad = goodBytes < sizeBytes;
  const endMark = stopAt !== undefined ? 'stop' : syncedAt !== undefined ? 'sync' : undefined;
  const isFollowed =
    isBad &&
    (endMark !== undefined ||
      // The server never writes after a clean-shutdown marker.
      (await reader.hasEndMark(goodBytes, seed)) ||
      (await reader.hasLaterBatch(goodBytes, seed)));
  return {
    sizeBytes,
    hasBytesAfter: sizeBytes < reader.sizeBytes,
    isFollowed,
    isWritten: isBad && (await reader.isWrittenCompletely(goodBytes, seed)),
    endMark,
    isUnacknowledged: isBad && hasSalt(header) && (await reader.hasSyncMark(goodBytes, seed)),
    isRemnant: isBad && (await reader.isRemnant(goodBytes)),
  };
}

/**
 * Returns the end of the records as marked by a clean shutdown: after the last good record, or after damage at the
 * end of the file.
 */
async function markedEnd(
  reader: LogFileReader,
  { goodBytes, dataEnd }: { readonly goodBytes: number; readonly dataEnd: number },
  seed: number,
): Promise<number | undefined> {
  for (const offset of [goodBytes, reader.sizeBytes - END_MARK_SIZE]) {
    const isMark = offset >= goodBytes && (await reader.hasEndMark(offset, seed));
    if (isMark && dataEnd <= offset + END_MARK_SIZE) return offset;
  }
  return undefined;
}

/** Returns the end of the records as marked by an idle log. The last bytes of the marker may be zeros. */
async function syncedEnd(
  reader: LogFileReader,
  { goodBytes, dataEnd }: { readonly goodBytes: number; readonly dataEnd: number },
  seed: number,
): Promise<number | undefined> {
  const first = Math.max(goodBytes, dataEnd - END_MARK_SIZE);
  for (let offset = first; offset < dataEnd; offset += 1)
    if (await reader.hasSyncMark(offset, seed)) return offset;
  return undefined;
}
