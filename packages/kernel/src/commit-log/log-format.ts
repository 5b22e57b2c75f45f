import { crc32c } from '../checksum/crc32c.js';

// docs/formats/commit-log.md describes every byte.
export const FILE_HEADER_SIZE = 64;
export const RECORD_HEADER_SIZE = 32;
const FILE_MAGIC = Buffer.from('PLINTHLG', 'latin1');
export const RECORD_MAGIC = Buffer.from('PREC', 'latin1');
const VERSION = 1;
const START_NUMBER_AT = 12;
const SALT_AT = 48;
const FILE_CRC_AT = 60;
export const SALT_SIZE = FILE_CRC_AT - SALT_AT;

export interface FileHeader {
  readonly nodeId: string;
  readonly file: number;
  /** Number of the server start in which the file was created, as counted by the relational store; 0 in files of earlier releases. */
  readonly serverStartNumber: number;
  /** Sequence number of the file's first record. */
  readonly firstSequence: number;
  /** `SALT_SIZE` random bytes, so that clients who write rows cannot predict `seed`. Zeros in files of earlier releases. */
  readonly salt: Uint8Array;
  /** Initial value of every record header's checksum, so that records of other files are never accepted in this file. */
  readonly seed: number;
}

export interface RecordHeader {
  readonly payloadSize: number;
  /** Distance from the start of the write that contained this record; all bytes before that position were already synced. */
  readonly batchDistance: number;
  readonly sequence: number;
  readonly payloadCrc: number;
}

export function encodeFileHeader(header: Omit<FileHeader, 'seed'>): {
  readonly bytes: Uint8Array;
  readonly seed: number;
} {
  const bytes = Buffer.alloc(FILE_HEADER_SIZE);
  FILE_MAGIC.copy(bytes, 0);
  bytes.writeUInt16LE(VERSION, 8);
  bytes.writeUInt16LE(FILE_HEADER_SIZE, 10);
  bytes.writeUInt32LE(header.serverStartNumber, START_NUMBER_AT);
  bytes.writeBigUInt64LE(BigInt(header.file), 16);
  bytes.writeBigUInt64LE(BigInt(header.firstSequence), 24);
  bytes.write(header.nodeId.replaceAll('-', ''), 32, 16, 'hex');
  bytes.set(header.salt, SALT_AT);
  const seed = crc32c([bytes.subarray(0, FILE_CRC_AT)]);
  bytes.writeUInt32LE(seed, FILE_CRC_AT);
  return { bytes, seed };
}

/** @returns `undefined` when the bytes are not a file header that this version can read. */
export function decodeFileHeader(source: Uint8Array): FileHeader | undefined {
  if (source.byteLength < FILE_HEADER_SIZE) return undefined;
  const bytes = Buffer.from(source.buffer, source.byteOffset, FILE_HEADER_SIZE);
  if (!bytes.subarray(0, FILE_MAGIC.length).equals(FILE_MAGIC)) return undefined;
  const seed = bytes.readUInt32LE(FILE_CRC_AT);
  if (crc32c([bytes.subarray(0, FILE_CRC_AT)]) !== seed) return undefined;
  if (bytes.readUInt16LE(8) !== VERSION) return undefined;
  return {
    nodeId: bytes.toString('hex', 32, 48).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    serverStartNumber: bytes.readUInt32LE(START_NUMBER_AT),
    file: Number(bytes.readBigUInt64LE(16)),
    firstSequence: Number(bytes.readBigUInt64LE(24)),
    salt: Uint8Array.prototype.slice.call(bytes, SALT_AT, FILE_CRC_AT),
    seed,
  };
}

/**
 * Returns the seeds that a damaged file header may have had: the stored checksum if other bytes are corrupt, or the checksum
 * of the other bytes if the stored one is corrupt.
 */
export function possibleSeeds(source: Uint8Array): readonly number[] {
  const stored = new DataView(source.buffer, source.byteOffset).getUint32(FILE_CRC_AT, true);
  return [stored, crc32c([source.subarray(0, FILE_CRC_AT)])];
}

/** Returns the parts that identify the file, from a header that may be damaged elsewhere. */
export const ownPartOf = (source: Uint8Array): Pick<FileHeader, 'serverStartNumber' | 'salt'> => ({
  serverStartNumber: new DataView(source.buffer, source.byteOffset).getUint32(
    START_NUMBER_AT,
    true,
  ),
  salt: source.slice(SALT_AT, FILE_CRC_AT),
});

export function encodeRecordHeader(
  header: RecordHeader,
  seed: number,
  target: Buffer,
  at: number,
): void {
  RECORD_MAGIC.copy(target, at);
  target.writeUInt32LE(header.payloadSize, at + 8);
  target.writeUInt32LE(header.batchDistance, at + 12);
  // Written as two halves: sequence numbers stay below 2^53, and a bigint per record would cost more than the checksum.
  target.writeUInt32LE(header.sequence >>> 0, at + 16);
  target.writeUInt32LE(Math.floor(header.sequence / 2 ** 32), at + 20);
  target.writeUInt32LE(header.payloadCrc, at + 24);
  target.writeUInt32LE(0, at + 28);
  target.writeUInt32LE(crc32c([target.subarray(at + 8, at + 32)], seed), at + 4);
}

/** @returns `undefined` without an intact record header. */
export function decodeRecordHeader(source: Uint8Array, seed: number): RecordHeader | undefined {
  if (source.byteLength < RECORD_HEADER_SIZE) return undefined;
  const bytes = Buffer.from(source.buffer, source.byteOffset, RECORD_HEADER_SIZE);
  if (!bytes.subarray(0, 4).equals(RECORD_MAGIC) || bytes.readUInt32LE(28) !== 0) return undefined;
  if (crc32c([bytes.subarray(8)], seed) !== bytes.readUInt32LE(4)) return undefined;
  return {
    payloadSize: bytes.readUInt32LE(8),
    batchDistance: bytes.readUInt32LE(12),
    sequence: bytes.readUInt32LE(16) + bytes.readUInt32LE(20) * 2 ** 32,
    payloadCrc: bytes.readUInt32LE(24),
  };
}

/**
 * The clean-shutdown marker follows the last record after a clean shutdown. At most six bytes are nonzero. Releases
 * without support for the marker, and this release if the marker is corrupt, treat it as stray bytes and never as a
 * lost record (docs/formats/commit-log.md, "Reading").
 */
export const END_MARK_SIZE = 8;
const END_MAGIC = Buffer.from('EL\0\0', 'latin1');
/**
 * The sync marker follows the last record while the log is idle. It has the size and the layout of the
 * clean-shutdown marker.
 */
const SYNC_MAGIC = Buffer.from('SL\0\0', 'latin1');

/** @param offset offset of the marker, which is the end of the records. */
export const encodeEndMark = (seed: number, offset: number): Buffer =>
  encodeMark(END_MAGIC, seed, offset);

/** @param offset offset of the marker: all bytes before it are synced. */
export const encodeSyncMark = (seed: number, offset: number): Buffer =>
  encodeMark(SYNC_MAGIC, seed, offset);

function encodeMark(magic: Buffer, seed: number, offset: number): Buffer {
  const place = Buffer.alloc(8);
  place.writeBigUInt64LE(BigInt(offset));
  const mark = Buffer.alloc(END_MARK_SIZE);
  magic.copy(mark);
  mark.writeUInt32LE(crc32c([magic, place], seed), magic.length);
  return mark;
}

export const logFileName = (file: number): string => `${String(file).padStart(12, '0')}.log`;

/** @returns `undefined` for names of other files. */
export function logFileNumber(name: string): number | undefined {
  return /^\d{12}\.log$/.test(name) ? Number.parseInt(name, 10) : undefined;
}

/** Headers of earlier releases contain zeros there. */
export const hasSalt = ({ salt }: Pick<FileHeader, 'salt'>): boolean =>
  salt.some((byte) => byte !== 0);
