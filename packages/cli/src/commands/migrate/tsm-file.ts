import { constants } from 'node:buffer';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { messageOf } from '@plinth/kernel';
import { CommandFailed } from '@plinth/server/process/command-failed.js';
import { readBlock, TSM_TYPES, type TsmBlock, type TsmType } from './tsm-blocks.js';

const MAGIC = 0x16d116d1;
const ENTRY_BYTES = 28;
const MAX_BLOCK_BYTES = 1 << 30;
const SEPARATOR = '#!~#';

/** A field of a series, with the positions of its blocks. */
export interface TsmField {
  /** Measurement and tags in line protocol format. */
  readonly series: string;
  readonly field: string;
  readonly type: TsmType;
  readonly places: readonly { readonly offset: number; readonly size: number }[];
}

/** Deleted time ranges of a field. Both bounds are inclusive. */
type Deleted = readonly { readonly min: bigint; readonly max: bigint }[];

/** A TSM file of InfluxDB 1.x: blocks, followed by an index by series and field. */
export class TsmFile {
  /** Ascending by series, then field. */
  readonly fields: readonly TsmField[];
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #deleted: ReadonlyMap<string, Deleted>;

  private constructor(
    path: string,
    file: FileHandle,
    fields: readonly TsmField[],
    deleted: ReadonlyMap<string, Deleted>,
  ) {
    this.#path = path;
    this.#file = file;
    this.fields = fields;
    this.#deleted = deleted;
  }

  static async open(path: string): Promise<TsmFile> {
    const file = await open(path);
    try {
      return new TsmFile(path, file, await readIndex(path, file), await readTombstones(path));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Yields the blocks of a field, ascending; deleted values are marked in `isKept`. */
  async *blocks({ series, field, type, places }: TsmField): AsyncGenerator<TsmBlock> {
    const deleted = this.#deleted.get(`${series}${SEPARATOR}${field}`);
    for (const { offset, size } of places) {
      if (size > MAX_BLOCK_BYTES) throw damaged(this.#path, offset, 'a block is larger than 1 GiB');
      const bytes = Buffer.alloc(size);
      const { bytesRead } = await this.#file.read(bytes, 0, size, offset);
      if (bytesRead < size) throw damaged(this.#path, offset, 'the file ends within a block');
      let block: TsmBlock;
      try {
        block = readBlock(bytes, type);
      } catch (error) {
        throw damaged(
          this.#path,
          offset,
          `the block of field "${field}" in series "${series}" cannot be read: ${messageOf(error)}`,
        );
      }
      yield deleted === undefined ? block : without(block, deleted);
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

function without({ times, values }: TsmBlock, deleted: Deleted): TsmBlock {
  const isKept = (time: bigint) => !deleted.some(({ min, max }) => time >= min && time <= max);
  const retained = [...times.keys()].filter((i) => isKept(times[i] ?? 0n));
  const pick = <V>(from: { readonly [i: number]: V }): V[] => retained.map((i) => from[i] as V);
  const keptTimes = BigInt64Array.from(pick<bigint>(times));
  if (values instanceof Float64Array)
    return { times: keptTimes, values: Float64Array.from(pick<number>(values)) };
  if (values instanceof BigInt64Array)
    return { times: keptTimes, values: BigInt64Array.from(pick<bigint>(values)) };
  if (values instanceof BigUint64Array)
    return { times: keptTimes, values: BigUint64Array.from(pick<bigint>(values)) };
  return { times: keptTimes, values: pick<boolean | string>(values) as boolean[] | string[] };
}

async function readIndex(path: string, file: FileHandle): Promise<TsmField[]> {
  const { size } = await file.stat();
  const head = Buffer.alloc(5);
  await file.read(head, 0, 5, 0);
  if (head.readUInt32BE(0) !== MAGIC) throw damaged(path, 0, 'not a TSM file: invalid header');
  if (head[4] !== 1)
    throw damaged(path, 4, `unsupported TSM version ${head[4]}; only version 1 is supported`);
  const tail = Buffer.alloc(8);
  await file.read(tail, 0, 8, Math.max(0, size - 8));
  const start = Number(tail.readBigUInt64BE(0));
  if (!(start >= 5 && start <= size - 8) || size - 8 - start > constants.MAX_LENGTH) {
    throw damaged(path, size - 8, 'the index position is outside the file');
  }
  const index = Buffer.alloc(size - 8 - start);
  await file.read(index, 0, index.length, start);
  const fields: TsmField[] = [];
  for (let at = 0; at < index.length; ) {
    const wrong = (what: string) => damaged(path, start + at, what);
    const keySize = at + 2 <= index.length ? index.readUInt16BE(at) : 0;
    const entries = at + 2 + keySize + 3;
    if (keySize === 0 || entries > index.length) throw wrong('the index ends within a key');
    const key = index.toString('utf8', at + 2, at + 2 + keySize);
    const split = key.lastIndexOf(SEPARATOR);
    const type = TSM_TYPES[index.readUInt8(entries - 3)];
    const count = index.readUInt16BE(entries - 2);
    if (split < 0 || type === undefined) throw wrong('the index contains an invalid key');
    if (entries + count * ENTRY_BYTES > index.length) throw wrong('the index ends within a key');
    const places = Array.from({ length: count }, (_, i) => {
      const entry = entries + i * ENTRY_BYTES;
      return {
        offset: Number(index.readBigUInt64BE(entry + 16)),
        size: index.readUInt32BE(entry + 24),
      };
    });
    if (places.some(({ offset, size: bytes }) => offset + bytes > start))
      throw wrong('a block is outside the file');
    fields.push({
      series: key.slice(0, split),
      field: key.slice(split + SEPARATOR.length),
      type,
      places,
    });
    at = entries + count * ENTRY_BYTES;
  }
  return fields;
}

/** Reads the three binary formats of tombstone files. The fourth, plain text, was used before version 0.13. */
async function readTombstones(path: string): Promise<Map<string, Deleted>> {
  const file = path.replace(/\.tsm$/, '.tombstone');
  const deleted = new Map<string, { min: bigint; max: bigint }[]>();
  const bytes = await readFile(file).catch((error: unknown) => {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined || bytes.length === 0) return deleted;
  const version = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  if (version < 0x1502 || version > 0x1504) throw damaged(file, 0, 'unknown tombstone format');
  let list = bytes.subarray(4);
  try {
    // zlib reads several concatenated compressed streams as one.
    if (version > 0x1502 && list.length > 0)
      list = gunzipSync(list, { maxOutputLength: MAX_BLOCK_BYTES });
  } catch (error) {
    throw damaged(file, 4, messageOf(error));
  }
  for (let at = 0; at < list.length; ) {
    const keySize = at + 4 <= list.length ? list.readUInt32BE(at) : 0;
    const range = at + 4 + keySize;
    if (keySize === 0 || range + 16 > list.length) throw damaged(file, at, 'truncated tombstone');
    const key = list.toString('utf8', at + 4, range);
    const ranges = deleted.get(key) ?? [];
    ranges.push({ min: list.readBigInt64BE(range), max: list.readBigInt64BE(range + 8) });
    deleted.set(key, ranges);
    at = range + 16;
  }
  return deleted;
}

const damaged = (path: string, offset: number, what: string): CommandFailed =>
  new CommandFailed(`${path}, byte ${offset}: ${what}`);
