import { join } from 'node:path';
import type { DomainError } from '../../errors/domain-error.js';
import type { LogCheckpoint } from '../log-checkpoint.js';
import { logError } from '../log-errors.js';
import { logFileName, logFileNumber } from '../log-format.js';
import type { LogFile, LogLoss } from '../log-loss.js';
import { KnownGaps } from './known-gaps.js';
import { FileRecovery, type FileRecoveryOptions } from './log-file-recovery.js';

export interface RecoveredLog {
  readonly files: readonly LogFile[];
  readonly losses: readonly LogLoss[];
  readonly nextFile: number;
  readonly nextSequence: number;
  /** The current repair or an earlier one removed records from these files or between them. */
  readonly hasGaps: boolean;
  /** No file belongs to a later start. */
  readonly newestServerStartNumber: number;
}

/**
 * Reads all files and truncates the torn tail of the last one. Refuses corruption anywhere else, or quarantines it
 * durably.
 */
export async function recoverLog(options: FileRecoveryOptions): Promise<RecoveredLog> {
  const { fileSystem, directory, repair, expected } = options;
  const names = await fileSystem.list(directory);
  const numbers = fileNumbers(names);
  const gaps = new KnownGaps(fileSystem, directory, names);
  const recovery = new FileRecovery(options, gaps);
  const missing = missingNewest(options, numbers, gaps);
  if (missing !== undefined) {
    if (!repair) throw missing;
    await gaps.record(expected.newestFile + 1);
    const path = join(directory, logFileName(expected.newestFile));
    recovery.losses.push({ kind: 'missing', file: path, offset: 0, lostBytes: 0 });
  }
  for (const [index, file] of numbers.entries())
    await recovery.recover(file, index === numbers.length - 1);
  const { files, losses, nextSequence, newestServerStartNumber } = recovery;
  const hasGaps = gaps.newest >= (files[0]?.file ?? 0) && gaps.newest > 0;
  return {
    files,
    losses,
    nextFile: Math.max(numbers.at(-1) ?? 0, expected.newestFile) + 1,
    nextSequence: nextSequence ?? expected.end?.sequence ?? expected.first?.sequence ?? 1,
    hasGaps: hasGaps || recovery.isStoreOlder,
    newestServerStartNumber,
  };
}

/** A log file, read as at startup. */
export interface CheckedLogFile {
  readonly sizeBytes: number;
  /** The reason why startup would fail at this file; `undefined` if the file is acceptable. */
  readonly damage: DomainError | undefined;
  /** Bytes that would be truncated at startup. */
  readonly losses: readonly LogLoss[];
}

/** Reads all files as at startup, without changing anything. No process may have the log open. */
export async function* checkLog(
  options: Omit<FileRecoveryOptions, 'repair' | 'dryRun'>,
): AsyncGenerator<CheckedLogFile> {
  const { fileSystem, directory } = options;
  const isThere = (await fileSystem.stat(directory)) !== undefined;
  const names = isThere ? await fileSystem.list(directory) : [];
  const numbers = fileNumbers(names);
  const gaps = new KnownGaps(fileSystem, directory, names);
  const recovery = new FileRecovery({ ...options, repair: false, dryRun: true }, gaps);
  const missing = missingNewest(options, numbers, gaps);
  if (missing !== undefined) yield { sizeBytes: 0, damage: missing, losses: [] };
  for (const [index, file] of numbers.entries()) {
    const path = join(directory, logFileName(file));
    const { sizeBytes = 0 } = (await fileSystem.stat(path)) ?? {};
    const lossCount = recovery.losses.length;
    let damage: DomainError | undefined;
    try {
      await recovery.recover(file, index === numbers.length - 1);
    } catch (error) {
      if (!logError.is(error, 'log_damaged')) throw error;
      damage = error;
      recovery.nextSequence = undefined; // Corruption in this file does not affect the next one.
    }
    yield { sizeBytes, damage, losses: recovery.losses.slice(lossCount) };
  }
}

const fileNumbers = (names: readonly string[]): readonly number[] =>
  names.map(logFileNumber).filter((file) => file !== undefined);

/** Returns a loss if the relational store requires this file or a later one and no such file exists. */
function missingNewest(
  {
    directory,
    expected,
  }: Pick<FileRecoveryOptions, 'directory'> & { readonly expected: LogCheckpoint },
  numbers: readonly number[],
  gaps: KnownGaps,
): DomainError | undefined {
  const { newestFile } = expected;
  if (Math.max(numbers.at(-1) ?? 0, gaps.newest) >= newestFile) return undefined;
  const path = join(directory, logFileName(newestFile));
  return logError('log_damaged', { file: path, offset: 0, why: NEWEST_GONE });
}

const NEWEST_GONE = 'the file is missing, and possibly later files; the newest records are lost';
