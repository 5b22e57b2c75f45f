import { join } from 'node:path';
import type { FileSystem } from '../../fs/file-system.js';
import { moveAside } from '../../fs/move-aside.js';
import type { LogCheckpoint, LogEnd } from '../log-checkpoint.js';
import { logError } from '../log-errors.js';
import { type FileHeader, logFileName } from '../log-format.js';
import type { LogFile, LogLoss } from '../log-loss.js';
import { type FileVerdict, verdictOf } from './file-verdict.js';
import { describeTail, keepTail } from './kept-tails.js';
import type { KnownGaps } from './known-gaps.js';
import { foreignReason, IS_DIRECTORY, missingBefore, STORE_OLDER } from './log-damage.js';
import { type CheckedFile, checkFile } from './log-file-check.js';
import { type LostBytes, salvageFile } from './log-salvage.js';

export interface FileRecoveryOptions {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly nodeId: string;
  readonly expected: LogCheckpoint;
  readonly repair: boolean;
  /** Reports what startup would do, without changing anything; cannot be combined with `repair`. */
  readonly dryRun?: boolean;
  /** Returns the time at which a record was written, if its payload contains a timestamp. */
  readonly writtenMs?: (payload: Uint8Array) => number | undefined;
  /** Describes a lost record from its payload, which may be corrupt. */
  readonly describe?: (payload: Uint8Array) => string | undefined;
}

type GoodVerdict = Exclude<FileVerdict['kind'], 'damaged'>;

/** Decides for each file, in ascending order, whether to keep, truncate, salvage, quarantine or refuse it. */
export class FileRecovery {
  readonly files: LogFile[] = [];
  readonly losses: LogLoss[] = [];
  /** `undefined` until the first file has been read. */
  nextSequence: number | undefined;
  /** Number of the newest start that a file or the relational store contains. */
  newestServerStartNumber: number;
  /** The relational store is older than a file, and a repair continues with it. */
  isStoreOlder = false;
  readonly #options: FileRecoveryOptions;
  readonly #gaps: KnownGaps;
  #hasOwn = false;
  #isFirst = true;

  constructor(options: FileRecoveryOptions, gaps: KnownGaps) {
    this.#options = options;
    this.newestServerStartNumber = options.expected.serverStartNumber ?? 0;
    this.#gaps = gaps;
  }

  async recover(file: number, isLast: boolean): Promise<void> {
    const { fileSystem, directory, nodeId, repair } = this.#options;
    const path = join(directory, logFileName(file));
    if ((await fileSystem.stat(path))?.isDirectory === true)
      throw logError('log_damaged', { file: path, offset: 0, why: IS_DIRECTORY });
    const checked = await checkFile(fileSystem, path, { file, nodeId });
    const { header, isHeaderIntact, goodBytes } = checked;
    // A repair uses a rebuilt header. Without a rebuilt header, only the file system can have caused the gap.
    const first = isHeaderIntact || repair ? header?.firstSequence : undefined;
    const foreign = foreignReason(first === undefined ? undefined : header, {
      nextSequence: this.nextSequence,
      ownId: this.#hasOwn ? nodeId : undefined,
    });
    if (foreign !== undefined) {
      if (!repair) throw logError('log_damaged', { file: path, offset: 0, why: foreign });
      return await this.#quarantine(file, path, checked.sizeBytes);
    }
    this.#noteOlderStore(path, checked, isLast);
    if (first !== undefined) await this.#noteMissingBefore(file, path, first);
    this.#isFirst = false;
    const end = isLast ? this.#options.expected.end : undefined;
    const verdict = verdictOf(checked, { isLast, end });
    if (verdict.kind !== 'damaged') {
      if (end !== undefined) await this.#noteMissingEnd(file, path, { checked, end });
      return await this.#keep(file, path, { checked, verdict: verdict.kind, isLast });
    }
    if (!repair) throw logError('log_damaged', { file: path, offset: goodBytes, why: verdict.why });
    if (header === undefined) return await this.#quarantine(file, path, checked.sizeBytes);
    await this.#salvage(file, path, { header, checked });
  }

  async #quarantine(file: number, path: string, lostBytes: number): Promise<void> {
    const { fileSystem, directory } = this.#options;
    await moveAside(fileSystem, directory, path, 0);
    this.#gaps.noteQuarantined(file);
    this.losses.push({ kind: 'moved_aside', file: path, offset: 0, lostBytes });
  }

  async #noteMissingBefore(file: number, path: string, first: number): Promise<void> {
    // Files before the first required file may still exist.
    const needed = this.#isFirst ? this.#options.expected.first : undefined;
    const lostRecordCount = first - (this.nextSequence ?? needed?.sequence ?? first);
    const previous = this.files.at(-1)?.file ?? needed?.file;
    if (lostRecordCount <= 0 || this.#gaps.hasQuarantinedBetween(file, previous)) return;
    if (!this.#options.repair) throw missingBefore(path, lostRecordCount);
    await this.#gaps.record(file);
    this.losses.push({ kind: 'missing', file: path, offset: 0, lostBytes: 0, lostRecordCount });
  }

  /**
   * Detects files of a later start, or a clean shutdown that the relational store did not record. Both show that an
   * older copy of the store was restored.
   */
  #noteOlderStore(path: string, checked: CheckedFile, isLast: boolean): void {
    const { expected, repair } = this.#options;
    const { serverStartNumber = 0 } = checked.header ?? {};
    this.newestServerStartNumber = Math.max(this.newestServerStartNumber, serverStartNumber);
    if (expected.serverStartNumber === undefined) return;
    const isOfUnknownStop =
      isLast && serverStartNumber > 0 && checked.endMark === 'stop' && expected.end === undefined;
    const { sequence = checked.nextSequence } = (isLast ? expected.end : undefined) ?? {};
    if (
      serverStartNumber <= expected.serverStartNumber &&
      !isOfUnknownStop &&
      checked.nextSequence <= sequence
    )
      return;
    if (!repair) throw logError('log_damaged', { file: path, offset: 0, why: STORE_OLDER });
    if (!this.isStoreOlder)
      this.losses.push({ kind: 'store_older', file: path, offset: 0, lostBytes: 0 });
    this.isStoreOlder = true;
  }

  /** Reports records missing at the end, because truncation at a record boundary leaves no corrupt bytes. */
  async #noteMissingEnd(
    file: number,
    path: string,
    { checked, end }: { readonly checked: CheckedFile; readonly end: LogEnd },
  ): Promise<void> {
    const { header, goodBytes, nextSequence } = checked;
    const isOther = file === end.file && header?.seed !== (end.checksum ?? header?.seed);
    const lostRecordCount = end.sequence - nextSequence;
    if ((lostRecordCount <= 0 && !isOther) || this.#gaps.hasQuarantinedBetween(file + 1, file))
      return;
    const why = isOther
      ? 'it is not the file of the last clean shutdown'
      : `records missing after the last one: ${lostRecordCount}; they existed at the last clean shutdown`;
    if (!this.#options.repair)
      throw logError('log_damaged', { file: path, offset: goodBytes, why });
    await this.#gaps.record(file + 1);
    this.losses.push({
      ...{ kind: 'missing', file: path, offset: goodBytes, lostBytes: 0 },
      ...(lostRecordCount > 0 ? { lostRecordCount } : {}),
    });
  }

  async #salvage(
    file: number,
    path: string,
    { header, checked }: { readonly header: FileHeader; readonly checked: CheckedFile },
  ): Promise<void> {
    const { fileSystem, directory, nodeId } = this.#options;
    const { writtenMs = () => undefined, describe = () => undefined } = this.#options;
    const dataEnd = checked.sizeBytes;
    const isEndKnown = checked.endMark !== undefined;
    const salvage = await salvageFile({
      ...{ fileSystem, directory, header, dataEnd, isEndKnown, writtenMs, describe },
    });
    this.#gaps.noteQuarantined(file);
    this.losses.push({ kind: 'moved_aside', file: path, ...lossOf(salvage.lost) });
    this.nextSequence = salvage.nextSequence;
    this.#hasOwn ||= header.nodeId === nodeId;
    const { firstSequence } = header;
    this.files.push({ file, path, sizeBytes: salvage.sizeBytes, firstSequence });
  }

  async #keep(
    file: number,
    path: string,
    {
      checked,
      verdict,
      isLast,
    }: {
      readonly checked: CheckedFile;
      readonly verdict: GoodVerdict;
      readonly isLast: boolean;
    },
  ): Promise<void> {
    const { fileSystem, directory, nodeId } = this.#options;
    const { header, isHeaderIntact, goodBytes, hasBytesAfter } = checked;
    if (verdict !== 'intact')
      this.losses.push(await this.#lossOfTail(file, path, { checked, verdict }));
    // The bytes may be only in the page cache: a process may have died before it synced its write.
    if (!this.#options.dryRun && (verdict !== 'intact' || isLast || hasBytesAfter))
      await cut(fileSystem, directory, path, goodBytes);
    if (header === undefined || !isHeaderIntact) return;
    this.nextSequence = checked.nextSequence;
    this.#hasOwn ||= header.nodeId === nodeId;
    const { firstSequence } = header;
    this.files.push({ file, path, sizeBytes: goodBytes, firstSequence });
  }

  /** Called before the file is truncated. Bytes that may have been acknowledged are quarantined. */
  async #lossOfTail(
    file: number,
    path: string,
    {
      checked,
      verdict,
    }: { readonly checked: CheckedFile; readonly verdict: Exclude<GoodVerdict, 'intact'> },
  ): Promise<LogLoss> {
    const { fileSystem, directory, dryRun = false, describe = () => undefined } = this.#options;
    const { header, goodBytes: offset, sizeBytes } = checked;
    const loss = { file: path, offset, lostBytes: sizeBytes - offset };
    if (verdict === 'unacknowledged') return { kind: 'tail_unacknowledged', ...loss };
    if (verdict === 'remnant') return { kind: 'tail_cleared', ...loss };
    const content =
      header === undefined
        ? []
        : await describeTail(fileSystem, path, { header, offset, describe });
    const quarantined =
      dryRun || header === undefined
        ? undefined
        : await keepTail({ fileSystem, directory, file, offset, end: sizeBytes });
    return {
      ...{ kind: 'tail_cut', ...loss },
      ...(content.length === 0 ? {} : { lostContent: content }),
      ...(quarantined === undefined ? {} : { quarantined }),
    };
  }
}

const isoOfMs = (ms: number): string => new Date(ms).toISOString();

const lossOf = ({ offset = 0, sizeBytes, recordCount, ...lost }: LostBytes) => ({
  offset,
  lostBytes: sizeBytes,
  ...(recordCount === undefined ? {} : { lostRecordCount: recordCount }),
  keptRecordCount: lost.keptBehindCount,
  ...(lost.afterMs === undefined ? {} : { writtenAfter: isoOfMs(lost.afterMs) }),
  ...(lost.beforeMs === undefined ? {} : { writtenBefore: isoOfMs(lost.beforeMs) }),
  ...(lost.content.length === 0 ? {} : { lostContent: lost.content }),
});

/** Also makes the remaining bytes durable. */
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
