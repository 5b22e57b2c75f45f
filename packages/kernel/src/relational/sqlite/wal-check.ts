import type { FileHandle, FileSystem } from '../../fs/file-system.js';
import { storeError } from '../relational-errors.js';

/** Bytes at the end that SQLite ignores: they were never acknowledged, or this cannot be determined. */
export interface WalTail {
  readonly offset: number;
  readonly lostBytes: number;
}

const HEADER_SIZE = 32;
const FRAME_HEADER_SIZE = 24;
const MAGIC_LITTLE = 0x377f_0682;
const MAGIC_BIG = 0x377f_0683;
const FRAMES_PER_READ = 128;

type Sum = readonly [number, number];

interface WalHeader {
  readonly isLittle: boolean;
  readonly pageSize: number;
  readonly salts: Sum;
  readonly sum: Sum;
}

/**
 * SQLite silently ends its journal at the first frame with a wrong checksum, so corruption would lose acknowledged
 * transactions. Throws `store_damaged` if the bad frame was synced; otherwise returns the tail, which may be torn.
 */
export async function checkWal(fileSystem: FileSystem, path: string): Promise<WalTail | undefined> {
  const size = (await fileSystem.stat(path))?.sizeBytes ?? 0;
  if (size <= HEADER_SIZE) return;
  const file = await fileSystem.open(path, 'r');
  try {
    return await checkFrames(file, path, size);
  } finally {
    await file.close();
  }
}

async function checkFrames(
  file: FileHandle,
  path: string,
  size: number,
): Promise<WalTail | undefined> {
  const start = new Uint8Array(Math.min(size, 4096));
  await file.read(start, 0);
  const header = headerOf(start);
  if (header === undefined) {
    // The header is synced before the first frame is written.
    if (start.subarray(HEADER_SIZE).every((byte) => byte === 0)) return;
    throw storeError('store_damaged', {
      file: path,
      offset: 0,
      why: 'invalid header before frames',
    });
  }
  const frameSize = FRAME_HEADER_SIZE + header.pageSize;
  const frameCount = Math.floor((size - HEADER_SIZE) / frameSize);
  const window = new Uint8Array(frameSize * Math.min(FRAMES_PER_READ, frameCount));
  let sum = header.sum;
  let badAt: number | undefined;
  let tailEnd: number | undefined;
  let commitCount = 0;
  for (let first = 0; first < frameCount; first += FRAMES_PER_READ) {
    const count = Math.min(FRAMES_PER_READ, frameCount - first);
    await file.read(window.subarray(0, count * frameSize), HEADER_SIZE + first * frameSize);
    for (let n = 0; n < count; n++) {
      const frame = new DataView(window.buffer, n * frameSize, frameSize);
      const offset = HEADER_SIZE + (first + n) * frameSize;
      const isOfThisRun =
        frame.getUint32(8) === header.salts[0] && frame.getUint32(12) === header.salts[1];
      if (badAt === undefined) {
        sum = sumOf(frame, FRAME_HEADER_SIZE, frameSize, {
          isLittle: header.isLittle,
          from: sumOf(frame, 0, 8, { isLittle: header.isLittle, from: sum }),
        });
        const isSumRight = frame.getUint32(16) === sum[0] && frame.getUint32(20) === sum[1];
        if (isSumRight && isOfThisRun) continue;
        // Checksums continue from the salts in the header, so frames of an earlier run never match.
        if (isSumRight)
          throw storeError('store_damaged', {
            file: path,
            offset,
            why: 'invalid salts in a frame',
          });
        badAt = offset;
      }
      if (!isOfThisRun) continue;
      tailEnd = offset + frameSize;
      if (frame.getUint32(4) !== 0) commitCount += 1;
      // The first commit ends the transaction of the bad frame. Later frames are written only after this transaction was synced.
      if (commitCount > 1) {
        throw storeError('store_damaged', {
          file: path,
          offset: badAt,
          why: 'invalid frame before a later transaction',
        });
      }
    }
  }
  if (badAt === undefined || tailEnd === undefined) return;
  return { offset: badAt, lostBytes: tailEnd - badAt };
}

function headerOf(bytes: Uint8Array): WalHeader | undefined {
  const view = new DataView(bytes.buffer, 0, HEADER_SIZE);
  const magic = view.getUint32(0);
  if (magic !== MAGIC_LITTLE && magic !== MAGIC_BIG) return;
  const isLittle = magic === MAGIC_LITTLE;
  const sum = sumOf(view, 0, 24, { isLittle, from: [0, 0] });
  if (view.getUint32(24) !== sum[0] || view.getUint32(28) !== sum[1]) return;
  const salts = [view.getUint32(16), view.getUint32(20)] as const;
  return { isLittle, pageSize: view.getUint32(8), salts, sum };
}

/** https://www.sqlite.org/fileformat2.html#checksum_algorithm */
function sumOf(
  view: DataView,
  start: number,
  end: number,
  { isLittle, from }: { readonly isLittle: boolean; readonly from: Sum },
): Sum {
  let [a, b] = from;
  for (let at = start; at < end; at += 8) {
    a = (a + view.getUint32(at, isLittle) + b) >>> 0;
    b = (b + view.getUint32(at + 4, isLittle) + a) >>> 0;
  }
  return [a, b];
}
