import { join } from 'node:path';
import { crc32c } from '../../checksum/crc32c.js';
import type { FileHandle, FileSystem } from '../../fs/file-system.js';
import { repairedName, replaceDamaged } from '../../fs/move-aside.js';
import { LogFileReader, type StoredRecord } from '../log-file-reader.js';
import {
  encodeFileHeader,
  encodeRecordHeader,
  FILE_HEADER_SIZE,
  type FileHeader,
  logFileName,
  RECORD_HEADER_SIZE,
} from '../log-format.js';
import { MAX_DESCRIBED_COUNT } from '../log-loss.js';
import { nextRecord } from './log-resync.js';

const WRITE_SIZE = 1024 * 1024;

/** The recovered and the lost records of a repaired file. */
export interface Salvage {
  /** Size of the replacement file. */
  readonly sizeBytes: number;
  readonly nextSequence: number;
  readonly lost: LostBytes;
}

/** All bytes of a damaged file without an intact record. */
export interface LostBytes {
  /** Offset of these bytes; `undefined` if there are none. */
  readonly offset: number | undefined;
  readonly sizeBytes: number;
  /** `undefined` if no later record shows their number. */
  readonly recordCount: number | undefined;
  /** Number of intact records after the lost bytes. */
  readonly keptBehindCount: number;
  /** Times at which the intact records around the lost bytes were written. */
  readonly afterMs: number | undefined;
  readonly beforeMs: number | undefined;
  /** Descriptions of lost records whose headers are intact. */
  readonly content: readonly string[];
}

/**
 * Quarantines the damaged file and replaces it with a file of all its intact records, numbered without a gap
 * (docs/formats/commit-log.md, "Repair"). Bytes from `dataEnd` on are zeros or the clean-shutdown marker.
 */
export async function salvageFile(options: {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly header: FileHeader;
  readonly dataEnd: number;
  /**
   * Whether a clean-shutdown marker proves that records extended to `dataEnd`. The bytes before it then contained a
   * record even if nearly all of them are zero.
   */
  readonly isEndKnown: boolean;
  readonly writtenMs: (payload: Uint8Array) => number | undefined;
  readonly describe: (payload: Uint8Array) => string | undefined;
}): Promise<Salvage> {
  const { fileSystem, directory, header, writtenMs } = options;
  const path = join(directory, logFileName(header.file));
  const source = await fileSystem.open(path, 'r');
  try {
    const target = await fileSystem.open(repairedName(path), 'w');
    let copy: RecordCopy;
    try {
      copy = new RecordCopy(target, header, writtenMs);
      await copyIntact(await LogFileReader.over(source), { ...options, copy });
      await copy.finish();
    } finally {
      await target.close();
    }
    await replaceDamaged(fileSystem, directory, path);
    const { sizeBytes, lost, keptRecordCount } = copy;
    const nextSequence = header.firstSequence + keptRecordCount;
    return { sizeBytes, nextSequence, lost };
  } finally {
    await source.close();
  }
}

async function copyIntact(
  reader: LogFileReader,
  options: {
    readonly header: FileHeader;
    readonly dataEnd: number;
    readonly isEndKnown: boolean;
    readonly describe: (payload: Uint8Array) => string | undefined;
    readonly copy: RecordCopy;
  },
): Promise<void> {
  const { header, dataEnd, isEndKnown, describe, copy } = options;
  let offset = FILE_HEADER_SIZE;
  let sequence = header.firstSequence;
  while (offset < dataEnd) {
    const known = await reader.recordHeaderAt(offset, header.seed);
    if (known?.sequence === sequence) {
      // An intact header contains the end of the record: its payload is never searched.
      const endOffset = offset + RECORD_HEADER_SIZE + known.payloadSize;
      const record = await reader.recordAt(offset, header.seed);
      if (record === undefined) {
        copy.lose(offset, endOffset, 1);
        const payload = await reader.payloadAt(offset, header.seed);
        copy.describe(payload && describe(payload));
      } else await copy.keep(record);
      offset = endOffset;
      sequence += 1;
      continue;
    }
    const next = await nextRecord(reader, header, { offset, sequence });
    if (next === undefined) {
      const isRemnant = !isEndKnown && (await reader.isRemnant(offset));
      copy.lose(offset, dataEnd, isRemnant ? 0 : undefined);
      return;
    }
    copy.lose(offset, next.offset, next.sequence - sequence);
    ({ offset, sequence } = next);
  }
}

/** Writes the new file. Every record counts as a separate write, because all records are synced before the log is used. */
class RecordCopy {
  keptRecordCount = 0;
  readonly #target: FileHandle;
  readonly #header: FileHeader;
  readonly #writtenMs: (payload: Uint8Array) => number | undefined;
  #waiting: Uint8Array[];
  #waitingSize = FILE_HEADER_SIZE;
  #writtenSize = 0;
  #keptMs: number | undefined;
  #lost: LostBytes = NOTHING_LOST;

  constructor(
    target: FileHandle,
    header: FileHeader,
    writtenMs: (payload: Uint8Array) => number | undefined,
  ) {
    this.#target = target;
    this.#header = header;
    this.#writtenMs = writtenMs;
    this.#waiting = [encodeFileHeader(header).bytes];
  }

  get sizeBytes(): number {
    return this.#writtenSize + this.#waitingSize;
  }

  get lost(): LostBytes {
    return this.#lost;
  }

  async keep({ payload }: StoredRecord): Promise<void> {
    const { firstSequence, seed } = this.#header;
    const head = Buffer.alloc(RECORD_HEADER_SIZE);
    const sequence = firstSequence + this.keptRecordCount;
    const sums = { payloadSize: payload.byteLength, payloadCrc: crc32c([payload]) };
    encodeRecordHeader({ ...sums, batchDistance: 0, sequence }, seed, head, 0);
    this.#waiting.push(head, payload);
    this.#waitingSize += RECORD_HEADER_SIZE + payload.byteLength;
    this.keptRecordCount += 1;
    this.#keptMs = this.#writtenMs(payload) ?? this.#keptMs;
    if (this.#lost.offset !== undefined) {
      const { keptBehindCount, beforeMs } = this.#lost;
      this.#lost = {
        ...this.#lost,
        keptBehindCount: keptBehindCount + 1,
        beforeMs: beforeMs ?? this.#keptMs,
      };
    }
    if (this.#waitingSize >= WRITE_SIZE) await this.#flush();
  }

  lose(offset: number, endOffset: number, recordCount: number | undefined): void {
    const lost = this.#lost;
    const isKnown = lost.recordCount !== undefined && recordCount !== undefined;
    this.#lost = {
      ...lost,
      offset: lost.offset ?? offset,
      sizeBytes: lost.sizeBytes + endOffset - offset,
      recordCount: isKnown ? lost.recordCount + recordCount : undefined,
      afterMs: lost.offset === undefined ? this.#keptMs : lost.afterMs,
      // Set from the first record after the last of these files.
      beforeMs: undefined,
    };
  }

  /** Adds the known details of the last lost record. */
  describe(text: string | undefined): void {
    const { content } = this.#lost;
    if (text === undefined || content.length >= MAX_DESCRIBED_COUNT) return;
    this.#lost = { ...this.#lost, content: [...content, text] };
  }

  async finish(): Promise<void> {
    await this.#flush();
    await this.#target.sync();
  }

  async #flush(): Promise<void> {
    await this.#target.write(this.#waiting, this.#writtenSize);
    this.#writtenSize += this.#waitingSize;
    this.#waiting = [];
    this.#waitingSize = 0;
  }
}

const NOTHING_LOST: LostBytes = {
  offset: undefined,
  sizeBytes: 0,
  recordCount: 0,
  keptBehindCount: 0,
  afterMs: undefined,
  beforeMs: undefined,
  content: [],
};
