import { join } from 'node:path';
import { KnownGaps } from './known-gaps.js';
import { logError } from './log-errors.js';
import { FileRecovery, type FileRecoveryOptions } from './log-file-recovery.js';
import { logFileName, logFileNumber } from './log-format.js';
import type { LogFile, LogLoss } from './log-loss.js';

export interface RecoveredLog {
  readonly files: readonly LogFile[];
  readonly losses: readonly LogLoss[];
  readonly nextFile: number;
  readonly nextSequence: number;
  /** A repair, now or earlier, took records away that would be in these files or between them. */
  readonly hasGaps: boolean;
}

/** Reads all files, cuts the torn tail of the last, and refuses damage anywhere else (or moves it aside, durably). */
export async function recoverLog(
  options: FileRecoveryOptions & { readonly knownFile: number },
): Promise<RecoveredLog> {
  const { fileSystem, directory, repair, knownFile } = options;
  const names = await fileSystem.list(directory);
  const numbers = names.map(logFileNumber).filter((file) => file !== undefined);
  const gaps = new KnownGaps(fileSystem, directory, names);
  const recovery = new FileRecovery(options, gaps);
  const newest = Math.max(numbers.at(-1) ?? 0, gaps.newest);
  if (newest < knownFile) {
    const path = join(directory, logFileName(knownFile));
    if (!repair) throw logError('log_damaged', { file: path, offset: 0, why: NEWEST_GONE });
    await gaps.keep(knownFile + 1);
    recovery.losses.push({ kind: 'missing', file: path, offset: 0, lostBytes: 0 });
  }
  for (const [index, file] of numbers.entries())
    await recovery.recover(file, index === numbers.length - 1);
  const { files, losses, nextSequence } = recovery;
  return {
    files,
    losses,
    nextFile: Math.max(numbers.at(-1) ?? 0, knownFile) + 1,
    nextSequence: nextSequence ?? 1,
    hasGaps: gaps.newest >= (files[0]?.file ?? 0) && gaps.newest > 0,
  };
}

const NEWEST_GONE = 'it is missing, or it and those behind it: what was written last is gone';
