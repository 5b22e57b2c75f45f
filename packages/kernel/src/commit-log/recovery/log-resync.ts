import type { LogFileReader, StoredRecord } from '../log-file-reader.js';
import {
  encodeFileHeader,
  FILE_HEADER_SIZE,
  type FileHeader,
  hasSalt,
  ownPartOf,
  possibleSeeds,
  RECORD_HEADER_SIZE,
} from '../log-format.js';

// Finds intact records after damage: docs/formats/commit-log.md, "Repair".

/**
 * Rebuilds the original header of a file whose header is damaged. Returns only a proven header: its number from the file name,
 * this node and the first record's sequence number result in exactly the checksum with which the first record was written.
 */
export async function rebuildHeader(
  reader: LogFileReader,
  file: number,
  nodeId: string,
): Promise<FileHeader | undefined> {
  const bytes = await reader.headerBytes();
  if (bytes.byteLength < FILE_HEADER_SIZE) return undefined;
  for (const seed of possibleSeeds(bytes)) {
    const first = await reader.recordHeaderAt(FILE_HEADER_SIZE, seed);
    if (first === undefined) continue;
    const header = { nodeId, file, firstSequence: first.sequence, ...ownPartOf(bytes) };
    if (encodeFileHeader(header).seed === seed) return { ...header, seed };
  }
  return undefined;
}

/**
 * Finds the next record after a record whose corrupt header hides its end. A client may have sent a payload that looks
 * like a record, but its checksum does not include the salt of the file. Files without a salt are therefore not
 * searched.
 */
export async function nextRecord(
  reader: LogFileReader,
  { salt, seed }: FileHeader,
  damaged: { readonly offset: number; readonly sequence: number },
): Promise<StoredRecord | undefined> {
  if (!hasSalt({ salt })) return undefined;
  for await (const record of reader.recordsAfter(damaged.offset, seed)) {
    const lostCount = record.sequence - damaged.sequence;
    const mostCount = Math.floor((record.offset - damaged.offset) / RECORD_HEADER_SIZE);
    const isPlausible = lostCount >= 1 && lostCount <= mostCount;
    if (isPlausible && record.batchOffset >= FILE_HEADER_SIZE) return record;
  }
  return undefined;
}
