import { join } from 'node:path';
import type { FileSystem } from '../fs/file-system.js';
import { asideName, moveAside } from '../fs/move-aside.js';
import { LogDamaged } from './log-errors.js';
import { LogFileReader } from './log-file-reader.js';
import { FILE_HEADER_SIZE, logFileName, logFileNumber } from './log-format.js';

export interface LogFile {
  readonly file: number;
  readonly path: string;
  readonly sizeBytes: number;
}

/** What recovery took away. `tail_cut`: never acknowledged, or it could not be told; `moved_aside`: by repair. */
export interface LogLoss {
  readonly kind: 'tail_cut' | 'moved_aside';
  readonly file: string;
  readonly offset: number;
  readonly lostBytes: number;
}

export interface RecoveredLog {
  readonly files: readonly LogFile[];
  readonly losses: readonly LogLoss[];
  readonly nextFile: number;
  readonly nextSequence: number;
}

interface Checked {
  readonly firstSequence: number | undefined;
  readonly nextSequence: number;
  readonly goodBytes: number;
  /** Without zeros at the end, which were made ready for records to come. */
  readonly sizeBytes: number;
  readonly hasZerosBehind: boolean;
  /** A synced record stands behind the bad bytes, so they are damage and no torn write. */
  readonly isFollowed: boolean;
}

/** Reads all files, cuts the torn tail of the last, and refuses damage anywhere else (or moves it aside). */
export async function recoverLog(options: {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly repair: boolean;
}): Promise<RecoveredLog> {
  const { fileSystem, directory, repair } = options;
  const names = await fileSystem.list(directory);
  const numbers = names.map(logFileNumber).filter((file) => file !== undefined);
  const files: LogFile[] = [];
  const losses: LogLoss[] = [];
  let nextSequence: number | undefined;
  let mayHaveGap = false;
  for (const [index, file] of numbers.entries()) {
    const path = join(directory, logFileName(file));
    const checked = await checkFile(fileSystem, path, file);
    const isLast = index === numbers.length - 1;
    const first = checked.firstSequence;
    const hasGap = first !== undefined && nextSequence !== undefined && first !== nextSequence;
    if (hasGap && !mayHaveGap && !repair) {
      throw new LogDamaged({ file: path, offset: 0, why: 'records before this file are missing' });
    }
    const isIntact = checked.goodBytes === checked.sizeBytes && first !== undefined;
    if (!isIntact) {
      const lostBytes = checked.sizeBytes - checked.goodBytes;
      const isDamage = !isLast || checked.isFollowed;
      if (isDamage && !repair) throw damageOf(path, checked, isLast);
      const kind = isDamage ? 'moved_aside' : 'tail_cut';
      if (isDamage) await moveAside(fileSystem, directory, path, checked.goodBytes);
      else await cut(fileSystem, directory, path, checked.goodBytes);
      losses.push({ kind, file: path, offset: checked.goodBytes, lostBytes });
    }
    // Read from memory is not yet on the disk: a process may have died before its write was synced.
    if (isIntact && (isLast || checked.hasZerosBehind))
      await cut(fileSystem, directory, path, checked.goodBytes);
    // What a repair left out explains a gap, also at later starts.
    mayHaveGap = names.includes(asideName(logFileName(file))) || losses.at(-1)?.file === path;
    if (first === undefined) continue;
    nextSequence = checked.nextSequence;
    files.push({ file, path, sizeBytes: checked.goodBytes });
  }
  return {
    files,
    losses,
    nextFile: (numbers.at(-1) ?? 0) + 1,
    nextSequence: nextSequence ?? 1,
  };
}

async function checkFile(fileSystem: FileSystem, path: string, file: number): Promise<Checked> {
  const handle = await fileSystem.open(path, 'r');
  try {
    const reader = await LogFileReader.over(handle);
    const header = await reader.header();
    if (header === undefined || header.file !== file) {
      // The header is synced before the first record is written, so only a file without records may lack it.
      const sizeBytes = await reader.dataEnd(0);
      const isFollowed = sizeBytes > FILE_HEADER_SIZE;
      const hasZerosBehind = sizeBytes < reader.sizeBytes;
      return {
        firstSequence: undefined,
        nextSequence: 0,
        goodBytes: 0,
        sizeBytes,
        hasZerosBehind,
        isFollowed,
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
    const hasZerosBehind = sizeBytes < reader.sizeBytes;
    const isFollowed = offset < sizeBytes && (await reader.hasLaterBatch(offset, header.seed));
    const { firstSequence } = header;
    return {
      firstSequence,
      nextSequence,
      goodBytes: offset,
      sizeBytes,
      hasZerosBehind,
      isFollowed,
    };
  } finally {
    await handle.close();
  }
}

function damageOf(path: string, checked: Checked, isLast: boolean): LogDamaged {
  const where = isLast ? 'before intact ones' : 'in a file that is not the last';
  const what = checked.firstSequence === undefined ? 'file header' : 'record';
  return new LogDamaged({ file: path, offset: checked.goodBytes, why: `bad ${what} ${where}` });
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
