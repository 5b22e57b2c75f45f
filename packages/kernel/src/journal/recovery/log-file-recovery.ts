import { join } from 'node:path';
import type { FileSystem } from '../../fs/file-system.js';
import { moveAside } from '../../fs/move-aside.js';
import type { KnownLog, LogEnd } from '../log-catalog.js';
import { logError } from '../log-errors.js';
import { type FileHeader, logFileName } from '../log-format.js';
import type { LogFile, LogLoss } from '../log-loss.js';
import { describeTail, keepTail } from './kept-tails.js';
import type { KnownGaps } from './known-gaps.js';
import { CATALOG_OLDER, damageOf, IS_DIRECTORY, missingBefore, strangeness } from './log-damage.js';
import { type CheckedFile, checkFile } from './log-file-check.js';
import { type LostBytes, salvageFile } from './log-salvage.js';

export interface FileRecoveryOptions {
  readonly fileSystem: FileSystem;
  readonly directory: string;
  readonly nodeId: string;
  readonly known: KnownLog;
  readonly repair: boolean;
  /** Reports the actions of a startup without changing anything; only without `repair`. */
  readonly dryRun?: boolean;
  /** Returns the time at which a record was written, if its payload contains a timestamp. */
  readonly writtenMs?: (payload: Uint8Array) => number | undefined;
  /** Describes a lost record from its payload, which may be corrupt. */
  readonly describe?: (payload: Uint8Array) => string | undefined;
}

/** Decides for each file, in ascending order, whether to keep, truncate, salvage, quarantine or refuse it. */
export class FileRecovery {
  readonly files: LogFile[] = [];
  readonly losses: LogLoss[] = [];
  /** `undefined` until the first file has been read. */
  nextSequence: number | undefined;
  /** Newest epoch of all files and of the catalog. */
  newestEpoch: number;
  /** The catalog is older than a file, and a repair continues with this catalog. */
  isCatalogOlder = false;
  readonly #options: FileRecoveryOptions;
  readonly #gaps: KnownGaps;
  #hasOwn = false;
  #isFirst = true;

  constructor(options: FileRecoveryOptions, gaps: KnownGaps) {
    this.#options = options;
    this.newestEpoch = options.known.epoch ?? 0;
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
    const strange = strangeness(first === undefined ? undefined : header, {
      nextSequence: this.nextSequence,
      ownId: this.#hasOwn ? nodeId : undefined,
    });
    if (strange !== undefined) {
      if (!repair) throw logError('log_damaged', { file: path, offset: 0, why: strange });
      return await this.#takeAway(file, path, checked.sizeBytes);
    }
    this.#noteOlderCatalog(path, checked, isLast);
    if (first !== undefined) await this.#noteMissingBefore(file, path, first);
    this.#isFirst = false;
    const isIntact = goodBytes === checked.sizeBytes && isHeaderIntact;
    const end = isLast ? this.#options.known.end : undefined;
    const isShort = end !== undefined && checked.nextSequence < end.sequence;
    const isDamage = !isIntact && (!isLast || checked.isFollowed || checked.isWritten || isShort);
    if (!isDamage) {
      if (end !== undefined) await this.#noteMissingEnd(file, path, { checked, end });
      return await this.#keep(file, path, { checked, isIntact, isLast });
    }
    if (!repair) throw damageOf(path, checked, { isLast, isShort });
    if (header === undefined) return await this.#takeAway(file, path, checked.sizeBytes);
    await this.#salvage(file, path, { header, checked });
  }

  async #takeAway(file: number, path: string, lostBytes: number): Promise<void> {
    const { fileSystem, directory } = this.#options;
    await moveAside(fileSystem, directory, path, 0);
    this.#gaps.noteAside(file);
    this.losses.push({ kind: 'moved_aside', file: path, offset: 0, lostBytes });
  }

  async #noteMissingBefore(file: number, path: string, first: number): Promise<void> {
    // Files before the first required file may still exist.
    const needed = this.#isFirst ? this.#options.known.first : undefined;
    const lostRecordCount = first - (this.nextSequence ?? needed?.sequence ?? first);
    const previous = this.files.at(-1)?.file ?? needed?.file;
    if (lostRecordCount <= 0 || this.#gaps.explain(file, previous)) return;
    if (!this.#options.repair) throw missingBefore(path, lostRecordCount);
    await this.#gaps.keep(file);
    this.losses.push({ kind: 'missing', file: path, offset: 0, lostBytes: 0, lostRecordCount });
  }

  /**
   * Detects files of a later start, or a stop that the catalog does not contain. Both show that an older copy of the
   * catalog was restored.
   */
  #noteOlderCatalog(path: string, checked: CheckedFile, isLast: boolean): void {
    const { known, repair } = this.#options;
    const { epoch = 0 } = checked.header ?? {};
    this.newestEpoch = Math.max(this.newestEpoch, epoch);
    if (known.epoch === undefined) return;
    const isOfUnknownStop = isLast && epoch > 0 && checked.isEndKnown && known.end === undefined;
    const { sequence = checked.nextSequence } = (isLast ? known.end : undefined) ?? {};
    if (epoch <= known.epoch && !isOfUnknownStop && checked.nextSequence <= sequence) return;
    if (!repair) throw logError('log_damaged', { file: path, offset: 0, why: CATALOG_OLDER });
    if (!this.isCatalogOlder)
      this.losses.push({ kind: 'catalog_older', file: path, offset: 0, lostBytes: 0 });
    this.isCatalogOlder = true;
  }

  /** Reports records missing at the end, because truncation at a record boundary leaves no corrupt bytes. */
  async #noteMissingEnd(
    file: number,
    path: string,
    of: { readonly checked: CheckedFile; readonly end: LogEnd },
  ): Promise<void> {
    const { header, goodBytes, nextSequence } = of.checked;
    const { end } = of;
    const isOther = file === end.file && header?.seed !== (end.checksum ?? header?.seed);
    const lostRecordCount = end.sequence - nextSequence;
    if ((lostRecordCount <= 0 && !isOther) || this.#gaps.explain(file + 1, file)) return;
    const why = isOther
      ? 'it is not the file of the last stop'
      : `${lostRecordCount} records are missing after the last one; they existed at the last clean stop`;
    if (!this.#options.repair)
      throw logError('log_damaged', { file: path, offset: goodBytes, why });
    await this.#gaps.keep(file + 1);
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
    const isEndKnown = checked.isEndKnown || checked.isEndSynced;
    const salvage = await salvageFile({
      ...{ fileSystem, directory, header, dataEnd, isEndKnown, writtenMs, describe },
    });
    this.#gaps.noteAside(file);
    this.losses.push({ kind: 'moved_aside', file: path, ...lossOf(salvage.lost) });
    this.nextSequence = salvage.nextSequence;
    this.#hasOwn ||= header.nodeId === nodeId;
    const { firstSequence } = header;
    this.files.push({ file, path, sizeBytes: salvage.sizeBytes, firstSequence });
  }

  async #keep(
    file: number,
    path: string,
    of: { readonly checked: CheckedFile; readonly isIntact: boolean; readonly isLast: boolean },
  ): Promise<void> {
    const { fileSystem, directory, nodeId } = this.#options;
    const { header, isHeaderIntact, goodBytes, hasBytesBehind } = of.checked;
    if (!of.isIntact) this.losses.push(await this.#lossOfTail(file, path, of.checked));
    // The bytes may be only in the page cache: a process may have died before it synced its write.
    if (!this.#options.dryRun && (!of.isIntact || of.isLast || hasBytesBehind))
      await cut(fileSystem, directory, path, goodBytes);
    if (header === undefined || !isHeaderIntact) return;
    this.nextSequence = of.checked.nextSequence;
    this.#hasOwn ||= header.nodeId === nodeId;
    const { firstSequence } = header;
    this.files.push({ file, path, sizeBytes: goodBytes, firstSequence });
  }

  /** Called before the file is truncated. Bytes that may have been acknowledged are quarantined. */
  async #lossOfTail(file: number, path: string, checked: CheckedFile): Promise<LogLoss> {
    const { fileSystem, directory, dryRun = false, describe = () => undefined } = this.#options;
    const { header, goodBytes: offset, sizeBytes, isRemnant, isUnacknowledged } = checked;
    const loss = { file: path, offset, lostBytes: sizeBytes - offset };
    if (isUnacknowledged) return { kind: 'tail_unacknowledged', ...loss };
    if (isRemnant) return { kind: 'tail_cleared', ...loss };
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
