import { join } from 'node:path';
import type { DomainError } from '../errors/domain-error.js';
import type { FileSystem } from '../fs/file-system.js';
import { moveAside } from '../fs/move-aside.js';
import type { KnownGaps } from './known-gaps.js';
import type { KnownLog, LogEnd } from './log-catalog.js';
import { logError } from './log-errors.js';
import { type CheckedFile, checkFile } from './log-file-check.js';
import { type FileHeader, logFileName } from './log-format.js';
import type { LogFile, LogLoss } from './log-loss.js';
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
    const isDamage = !isIntact && (!isLast || checked.isFollowed || isShort);
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
    const { fileSystem, directory, nodeId, writtenMs = () => undefined } = this.#options;
    const { sizeBytes: dataEnd, isEndKnown } = checked;
    const salvage = await salvageFile({
      ...{ fileSystem, directory, header, dataEnd, isEndKnown, writtenMs },
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
    const { header, isHeaderIntact, goodBytes, sizeBytes, isRemnant, hasBytesBehind } = of.checked;
    // The bytes may be only in the page cache: a process may have died before it synced its write.
    if (!this.#options.dryRun && (!of.isIntact || of.isLast || hasBytesBehind))
      await cut(fileSystem, directory, path, goodBytes);
    if (!of.isIntact) {
      const kind = isRemnant ? 'tail_cleared' : 'tail_cut';
      const lostBytes = sizeBytes - goodBytes;
      this.losses.push({ kind, file: path, offset: goodBytes, lostBytes });
    }
    if (header === undefined || !isHeaderIntact) return;
    this.nextSequence = of.checked.nextSequence;
    this.#hasOwn ||= header.nodeId === nodeId;
    const { firstSequence } = header;
    this.files.push({ file, path, sizeBytes: goodBytes, firstSequence });
  }
}

/** Returns why an intact file cannot belong to this log: another process or an earlier run wrote it. */
function strangeness(
  header: FileHeader | undefined,
  log: { readonly nextSequence: number | undefined; readonly ownId: string | undefined },
): string | undefined {
  if (header === undefined) return undefined;
  const { nodeId, firstSequence } = header;
  if (log.nextSequence !== undefined && firstSequence < log.nextSequence) {
    return `its first record has number ${firstSequence} instead of ${log.nextSequence}: another process wrote it, or it is from another time`;
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
    why: `missing records before this file: ${count}`,
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

const IS_DIRECTORY =
  'it is a directory, which the server never creates. Move it away, and restore the file from a copy if one exists';

const CATALOG_OLDER =
  'it was written after plinth.db, which is an older copy: tables, deletions, accounts and tokens since then are missing. Restore the newer plinth.db or a backup; --repair continues with the older one';

function damageOf(
  path: string,
  checked: CheckedFile,
  { isLast, isShort }: { readonly isLast: boolean; readonly isShort: boolean },
): DomainError {
  const isBeforeStop = checked.isEndKnown || isShort;
  const beforeEnd = isBeforeStop
    ? 'before the end recorded at a clean stop'
    : 'before valid records';
  const where = isLast ? beforeEnd : 'in a file before the last one';
  const what = !checked.isHeaderIntact ? 'file header' : 'record';
  return logError('log_damaged', {
    file: path,
    offset: checked.goodBytes,
    why: `invalid ${what} ${where}`,
  });
}

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
