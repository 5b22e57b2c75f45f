import { join } from 'node:path';
import type { DomainError } from '../errors/domain-error.js';
import type { FileSystem } from '../fs/file-system.js';
import { asideName, moveAside } from '../fs/move-aside.js';
import { logError } from './log-errors.js';
import { LogFileReader } from './log-file-reader.js';
import { FILE_HEADER_SIZE, type FileHeader, logFileName, logFileNumber } from './log-format.js';
import { rebuildHeader } from './log-resync.js';
import { type LostBytes, salvageFile } from './log-salvage.js';

export interface LogFile {
  readonly file: number;
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * What recovery took away, or found to be gone. `tail_cut`: never acknowledged, or it could not be told; `tail_cleared`: bytes of no
 * record behind the last one; `moved_aside`: by repair; `missing`: `file`, or records before it, which repair goes on without.
 */
export interface LogLoss {
  readonly kind: 'tail_cut' | 'tail_cleared' | 'moved_aside' | 'missing';
  readonly file: string;
  readonly offset: number;
  readonly lostBytes: number;
  /** Where it can be told by their numbers. */
  readonly lostRecordCount?: number;
  /** Intact records behind the first damage. */
  readonly keptRecordCount?: number;
  /** When the records around what is lost were written, as far as they say: ISO 8601. */
  readonly writtenAfter?: string;
  readonly writtenBefore?: string;
}

export interface RecoveredLog {
  readonly files: readonly LogFile[];
  readonly losses: readonly LogLoss[];
  readonly nextFile: number;
  readonly nextSequence: number;
  /** A repair, now or earlier, took records away that would be in these files or between them. */
  readonly hasGaps: boolean;
}

interface Checked {
  /** Damaged ones too, where it is certain what they were. */
  readonly header: FileHeader | undefined;
  readonly isHeaderIntact: boolean;
  readonly nextSequence: number;
  readonly goodBytes: number;
  /** Without zeros at the end, which were made ready for records to come. */
  readonly sizeBytes: number;
  readonly hasZerosBehind: boolean;
  /** A synced record stands behind the bad bytes, so they are damage and no torn write. */
  readonly isFollowed: boolean;
  /** What stands behind the records is no part of one. */
  readonly isStray: boolean;
}

/** Reads all files, cuts the torn tail of the last, and refuses damage anywhere else (or moves it aside, durably). */
export async function recoverLog(options: {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly nodeId: string;
  readonly repair: boolean;
  readonly knownFile: number;
  /** When a record was written, if its payload says so. */
  readonly writtenMs?: (payload: Uint8Array) => number | undefined;
}): Promise<RecoveredLog> {
  const { fileSystem, directory, nodeId, repair, knownFile } = options;
  const { writtenMs = () => undefined } = options;
  const names = await fileSystem.list(directory);
  const numbers = names.map(logFileNumber).filter((file) => file !== undefined);
  const gaps = new KnownGaps(fileSystem, directory, names);
  const files: LogFile[] = [];
  const losses: LogLoss[] = [];
  const newest = Math.max(numbers.at(-1) ?? 0, gaps.newest);
  if (newest < knownFile) {
    const path = join(directory, logFileName(knownFile));
    if (!repair) throw logError('log_damaged', { file: path, offset: 0, why: NEWEST_GONE });
    await gaps.keep(knownFile + 1);
    losses.push({ kind: 'missing', file: path, offset: 0, lostBytes: 0 });
  }
  let nextSequence: number | undefined;
  let hasOwn = false;
  for (const [index, file] of numbers.entries()) {
    const path = join(directory, logFileName(file));
    const checked = await checkFile(fileSystem, path, { file, nodeId });
    const isLast = index === numbers.length - 1;
    const { header, isHeaderIntact, goodBytes } = checked;
    // A repair uses a header that was rebuilt; without one only the file system may have left it so.
    const first = isHeaderIntact || repair ? header?.firstSequence : undefined;
    const strange = strangeness(first === undefined ? undefined : header, {
      nextSequence,
      ownId: hasOwn ? nodeId : undefined,
    });
    const takeAway = async (): Promise<void> => {
      await moveAside(fileSystem, directory, path, 0);
      gaps.noteAside(file);
      losses.push({ kind: 'moved_aside', file: path, offset: 0, lostBytes: checked.sizeBytes });
    };
    if (strange !== undefined) {
      if (!repair) throw logError('log_damaged', { file: path, offset: 0, why: strange });
      await takeAway();
      continue;
    }
    const lostRecordCount = first === undefined ? 0 : first - (nextSequence ?? first);
    if (lostRecordCount > 0 && !gaps.explain(file, files.at(-1)?.file)) {
      if (!repair) throw missingBefore(path, lostRecordCount);
      await gaps.keep(file);
      losses.push({ kind: 'missing', file: path, offset: 0, lostBytes: 0, lostRecordCount });
    }
    const isIntact = goodBytes === checked.sizeBytes && isHeaderIntact;
    const isDamage = !isIntact && (!isLast || checked.isFollowed);
    if (isDamage && !repair) throw damageOf(path, checked, isLast);
    if (isDamage && header === undefined) {
      await takeAway();
      continue;
    }
    if (isDamage && header !== undefined) {
      const { sizeBytes: dataEnd } = checked;
      const salvage = await salvageFile({ fileSystem, directory, header, dataEnd, writtenMs });
      gaps.noteAside(file);
      losses.push({ kind: 'moved_aside', file: path, ...lossOf(salvage.lost) });
      nextSequence = salvage.nextSequence;
      hasOwn ||= header.nodeId === nodeId;
      files.push({ file, path, sizeBytes: salvage.sizeBytes });
      continue;
    }
    if (!isIntact) {
      await cut(fileSystem, directory, path, goodBytes);
      const kind = checked.isStray ? 'tail_cleared' : 'tail_cut';
      const lostBytes = checked.sizeBytes - goodBytes;
      losses.push({ kind, file: path, offset: goodBytes, lostBytes });
    }
    // Read from memory is not yet on the disk: a process may have died before its write was synced.
    if (isIntact && (isLast || checked.hasZerosBehind))
      await cut(fileSystem, directory, path, goodBytes);
    if (header === undefined || !isHeaderIntact) continue;
    nextSequence = checked.nextSequence;
    hasOwn ||= header.nodeId === nodeId;
    files.push({ file, path, sizeBytes: goodBytes });
  }
  return {
    files,
    losses,
    nextFile: Math.max(numbers.at(-1) ?? 0, knownFile) + 1,
    nextSequence: nextSequence ?? 1,
    hasGaps: gaps.newest >= (files[0]?.file ?? 0) && gaps.newest > 0,
  };
}

/** Gaps in the numbers of records that a repair has left, as companions of files tell: at later starts, too. */
class KnownGaps {
  readonly #fileSystem: FileSystem;
  readonly #directory: string;
  readonly #aside: Set<number>;

  constructor(fileSystem: FileSystem, directory: string, names: readonly string[]) {
    this.#fileSystem = fileSystem;
    this.#directory = directory;
    const companions = names.filter((name) => name === asideName(name.slice(0, LOG_NAME_LENGTH)));
    this.#aside = new Set(
      companions.flatMap((name) => logFileNumber(name.slice(0, LOG_NAME_LENGTH)) ?? []),
    );
  }

  /** The last file that something was put aside of, 0: of none. */
  get newest(): number {
    return Math.max(0, ...this.#aside);
  }

  noteAside(file: number): void {
    this.#aside.add(file);
  }

  /** Whether something was put aside between the start of `previous` and `file`. */
  explain(file: number, previous = 0): boolean {
    for (const aside of this.#aside) if (aside >= previous && aside < file) return true;
    return false;
  }

  /** Nothing can be put aside: the companion of what would stand before `file` is an empty one. */
  async keep(file: number): Promise<void> {
    const path = join(this.#directory, asideName(logFileName(file - 1)));
    await (await this.#fileSystem.open(path, 'wx')).close();
    await this.#fileSystem.syncDirectory(this.#directory);
    this.noteAside(file - 1);
  }
}

const NEWEST_GONE = 'it is missing, or it and those behind it: what was written last is gone';
const LOG_NAME_LENGTH = logFileName(0).length;

/** Why a file that is whole cannot be one of this log: another process or time has written it. */
function strangeness(
  header: FileHeader | undefined,
  log: { readonly nextSequence: number | undefined; readonly ownId: string | undefined },
): string | undefined {
  if (header === undefined) return undefined;
  const { nodeId, firstSequence } = header;
  if (log.nextSequence !== undefined && firstSequence < log.nextSequence) {
    return `its records are numbered from ${firstSequence} on, but ${log.nextSequence} is next: it was written by another process or at another time`;
  }
  if (log.ownId !== undefined && nodeId !== log.ownId) {
    return `it was written by another server (${nodeId})`;
  }
  return undefined;
}

const missingBefore = (path: string, count: number): DomainError =>
  logError('log_damaged', {
    file: path,
    offset: 0,
    why: `records before this file are missing (${count} of them)`,
  });

const isoOfMs = (ms: number): string => new Date(ms).toISOString();

const lossOf = ({ offset = 0, sizeBytes, recordCount, ...lost }: LostBytes) => ({
  offset,
  lostBytes: sizeBytes,
  ...(recordCount === undefined ? {} : { lostRecordCount: recordCount }),
  keptRecordCount: lost.keptBehindCount,
  ...(lost.afterMs === undefined ? {} : { writtenAfter: isoOfMs(lost.afterMs) }),
  ...(lost.beforeMs === undefined ? {} : { writtenBefore: isoOfMs(lost.beforeMs) }),
});

async function checkFile(
  fileSystem: FileSystem,
  path: string,
  { file, nodeId }: { readonly file: number; readonly nodeId: string },
): Promise<Checked> {
  const handle = await fileSystem.open(path, 'r');
  try {
    const reader = await LogFileReader.over(handle);
    const header = await reader.header();
    if (header === undefined || header.file !== file) {
      // The header is synced before the first record is written, so only a file without records may lack it.
      const sizeBytes = await reader.dataEnd(0);
      return {
        header: await rebuildHeader(reader, file, nodeId),
        isHeaderIntact: false,
        nextSequence: 0,
        goodBytes: 0,
        sizeBytes,
        hasZerosBehind: sizeBytes < reader.sizeBytes,
        isFollowed: sizeBytes > FILE_HEADER_SIZE,
        isStray: false,
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
    const sizeBytes = await reader.dataEnd(offset);
    const isFollowed = offset < sizeBytes && (await reader.hasLaterBatch(offset, header.seed));
    return {
      header,
      isHeaderIntact: true,
      nextSequence,
      goodBytes: offset,
      sizeBytes,
      hasZerosBehind: sizeBytes < reader.sizeBytes,
      isFollowed,
      isStray: offset < sizeBytes && (await reader.isStray(offset)),
    };
  } finally {
    await handle.close();
  }
}

function damageOf(path: string, checked: Checked, isLast: boolean): DomainError {
  const where = isLast ? 'before intact ones' : 'in a file that is not the last';
  const what = !checked.isHeaderIntact ? 'file header' : 'record';
  return logError('log_damaged', {
    file: path,
    offset: checked.goodBytes,
    why: `bad ${what} ${where}`,
  });
}

/** Also makes what stays durable. */
async function cut(
  fileSystem: FileSystem,
  directory: string,
  path: string,
  goodBytes: number,
): Promise<void> {
  if (goodBytes === 0) {
    await fileSystem.remove(path);
    await fileSystem.syncDirectory(directory);
    return;
  }
  const handle = await fileSystem.open(path, 'r+');
  try {
    await handle.truncate(goodBytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
