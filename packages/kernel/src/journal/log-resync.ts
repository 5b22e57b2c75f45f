import type { LogFileReader, StoredRecord } from './log-file-reader.js';
import {
  encodeFileHeader,
  FILE_HEADER_SIZE,
  type FileHeader,
  hasSalt,
  ownPartOf,
  possibleSeeds,
  RECORD_HEADER_SIZE,
} from './log-format.js';

// Finds intact records after damage: docs/formats/commit-log.md, "Repair".

/**
 * The header that a file with a damaged one had. Only proven ones: with the number of its name, this node and the first record's
 * sequence number, the header has exactly the checksum that the first record was written with.
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
 * The first record behind one whose header is damaged, so that its end is unknown. Its payload may hold bytes that a client chose to look like a
 * record: these lack the checksum that begins with the salt of the file. Files without a salt are therefore not searched.
 */
export async function nextRecord(
  reader: LogFileReader,
  { salt, seed }: FileHeader,
  damaged: { readonly offset: number; readonly sequence: number },
): Promise<StoredRecord | undefined> {
  if (!hasSalt({ salt })) return undefined;
  for await (const record of reader.recordsBehind(damaged.offset, seed)) {
    const lostCount = record.sequence - damaged.sequence;
    const mostCount = Math.floor((record.offset - damaged.offset) / RECORD_HEADER_SIZE);
    const isPlausible = lostCount >= 1 && lostCount <= mostCount;
    if (isPlausible && record.batchOffset >= FILE_HEADER_SIZE) return record;
  }
  return undefined;
}
