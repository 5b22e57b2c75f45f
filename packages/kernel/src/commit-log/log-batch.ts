import { invariant } from '../errors/invariant.js';
import { encodeRecordHeader, RECORD_HEADER_SIZE } from './log-format.js';

export interface WaitingRecord {
  readonly parts: readonly Uint8Array[];
  readonly payloadSize: number;
  readonly payloadCrc: number;
  readonly sequence: number;
  readonly offset: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Up to this size a copy is cheaper than one more buffer for the system call. */
const MAX_COPIED_SIZE = 8 * 1024;

/**
 * Encodes consecutive records for one write: short records are copied into one buffer, and long records remain
 * separate buffers.
 */
export function encodeBatch(
  batch: readonly WaitingRecord[],
  seed: number,
): { readonly parts: Uint8Array[]; readonly sizeBytes: number; readonly offset: number } {
  const first = batch[0];
  invariant(first !== undefined, 'a batch must contain at least one record');
  const staging = Buffer.allocUnsafe(batch.reduce((sum, record) => sum + stagedSize(record), 0));
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  let stagedFrom = 0;
  let staged = 0;
  for (const record of batch) {
    const { payloadSize, payloadCrc, sequence } = record;
    const batchDistance = record.offset - first.offset;
    encodeRecordHeader({ payloadSize, batchDistance, sequence, payloadCrc }, seed, staging, staged);
    staged += RECORD_HEADER_SIZE;
    for (const part of record.parts) {
      if (part.byteLength <= MAX_COPIED_SIZE) {
        staging.set(part, staged);
        staged += part.byteLength;
        continue;
      }
      parts.push(staging.subarray(stagedFrom, staged), part);
      stagedFrom = staged;
    }
    sizeBytes += RECORD_HEADER_SIZE + payloadSize;
  }
  if (staged > stagedFrom) parts.push(staging.subarray(stagedFrom, staged));
  return { parts, sizeBytes, offset: first.offset };
}

function stagedSize(record: WaitingRecord): number {
  let sizeBytes = RECORD_HEADER_SIZE;
  for (const part of record.parts) {
    if (part.byteLength <= MAX_COPIED_SIZE) sizeBytes += part.byteLength;
  }
  return sizeBytes;
}
