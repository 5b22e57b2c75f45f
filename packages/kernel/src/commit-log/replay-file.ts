import type { ReplayedRecord } from './commit-log.js';
import { logError } from './log-errors.js';
import type { LogFileReader } from './log-file-reader.js';
import { FILE_HEADER_SIZE, hasSalt } from './log-format.js';

/** Yields all records of a file that was intact when the log was opened, in order. Throws `log_damaged`. */
export async function* replayFile(
  reader: LogFileReader,
  file: number,
  path: string,
): AsyncIterable<ReplayedRecord> {
  const header = await reader.header();
  for (let offset = FILE_HEADER_SIZE; offset < reader.sizeBytes; ) {
    const record = header && (await reader.recordAt(offset, header.seed));
    // The file was intact when the log was opened, so the disk now returns different bytes.
    if (header === undefined || record === undefined)
      throw logError('log_damaged', { file: path, offset, why: 'unreadable record' });
    yield { position: { file, offset }, payload: record.payload, isSalted: hasSalt(header) };
    offset = record.endOffset;
  }
}

/**
 * Yields the records of a file up to the first that is missing, corrupt or not written yet; nothing if the file belongs
 * to another node.
 */
export async function* recordsOfFile(
  reader: LogFileReader,
  file: number,
  nodeId: string,
): AsyncIterable<ReplayedRecord> {
  const header = await reader.header();
  if (header === undefined || header.nodeId !== nodeId) return;
  for (let offset = FILE_HEADER_SIZE; ; ) {
    const record = await reader.recordAt(offset, header.seed);
    if (record === undefined) return;
    yield { position: { file, offset }, payload: record.payload, isSalted: hasSalt(header) };
    offset = record.endOffset;
  }
}
