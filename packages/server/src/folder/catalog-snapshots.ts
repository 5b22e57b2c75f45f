import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  checkDatabase,
  copyDatabase,
  type FileSystem,
  freeBytesOf,
  type Logger,
  repeatJob,
} from '@plinth/kernel';
import { STORE_FILE } from './file-names.js';

/** Below the data folder, with the permissions of `plinth.db`, because snapshots contain the same secrets. */
export const SNAPSHOT_FOLDER = 'snapshots';
const SNAPSHOT = /^plinth-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
/** Part of the names of an incomplete copy and of its journal. */
const INCOMPLETE = '.db.part';
const KEPT_COUNT = 3;
/** For larger databases, use backups: copies in the same folder would use too much disk space. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Required free space, as a multiple of the copy's size. */
const MIN_FREE_SPACE_FACTOR = 3;
const CHECK_INTERVAL_MS = 600_000;

/** Returns the names of complete snapshots, oldest first; empty if the folder does not exist. */
export async function listSnapshots(
  files: FileSystem,
  dataDir: string,
): Promise<readonly string[]> {
  const names = await files.list(join(dataDir, SNAPSHOT_FOLDER));
  return names.filter((name) => SNAPSHOT.test(name)).sort();
}

/** Returns the time when the copy was started, rounded down to a second. */
const startedMsOf = (name: string): number =>
  Date.parse(name.replace(SNAPSHOT, '$1-$2-$3T$4:$5:$6Z'));

interface CatalogSnapshotsDeps {
  readonly files: FileSystem;
  readonly dataDir: string;
  /** 0 disables snapshots. */
  readonly intervalSec: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Copies `plinth.db` periodically if it has changed, and keeps the last three copies. */
export class CatalogSnapshots {
  readonly #deps: CatalogSnapshotsDeps;
  readonly #folder: string;
  readonly #stop = new AbortController();
  #job: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isRefused = false;

  constructor(deps: CatalogSnapshotsDeps) {
    this.#deps = deps;
    this.#folder = join(deps.dataDir, SNAPSHOT_FOLDER);
  }

  start(): void {
    const { intervalSec, clock, log } = this.#deps;
    if (intervalSec === 0) return;
    const intervalMs = Math.min(intervalSec * 1000, CHECK_INTERVAL_MS);
    const job = { clock, log, name: 'snapshot of plinth.db', intervalMs };
    this.#job ??= repeatJob(job, async () => await this.check());
  }

  /** Creates a snapshot if one is due. A second call joins the first. */
  async check(): Promise<void> {
    this.#running ??= this.#makeIfDue()
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) throw error;
      })
      .finally(() => {
        this.#running = undefined;
      });
    await this.#running;
  }

  /** Interrupts the copy in progress. */
  async close(): Promise<void> {
    this.#job?.[Symbol.dispose]();
    this.#stop.abort();
    await this.#running?.catch(() => undefined);
  }

  async #makeIfDue(): Promise<void> {
    const { files, dataDir, intervalSec, clock, log } = this.#deps;
    await this.#removeIncomplete();
    const database = join(dataDir, STORE_FILE);
    const stored = await files.stat(database);
    const journal = await files.stat(`${database}-wal`);
    const newest = (await listSnapshots(files, dataDir)).at(-1);
    if (newest !== undefined) {
      // Not the file's timestamp, which is the end of the copy: commits during the copy are not in it.
      const startedMs = startedMsOf(newest);
      const changedMs = Math.max(stored?.modifiedMs ?? 0, journal?.modifiedMs ?? 0);
      if (changedMs <= startedMs || clock.nowMs() - startedMs < intervalSec * 1000) return;
    }
    const sizeBytes = (stored?.sizeBytes ?? 0) + (journal?.sizeBytes ?? 0);
    const isTooLarge =
      sizeBytes > MAX_BYTES || sizeBytes * MIN_FREE_SPACE_FACTOR > (await freeBytesOf(dataDir));
    if (isTooLarge) {
      if (!this.#isRefused)
        log.warn({ sizeBytes }, 'plinth.db snapshot skipped: the file is too large');
      this.#isRefused = true;
      return;
    }
    this.#isRefused = false;
    await this.#make(database);
  }

  /** A process that was killed leaves its incomplete copy. */
  async #removeIncomplete(): Promise<void> {
    const { files } = this.#deps;
    for (const name of await files.list(this.#folder))
      if (name.includes(INCOMPLETE)) await files.remove(join(this.#folder, name));
  }

  async #make(database: string): Promise<void> {
    const { files, dataDir, clock, log } = this.#deps;
    // Created with its permissions from the start, which `FileSystem` does not support for folders.
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await files.syncDirectory(dataDir);
    const time = new Date(clock.nowMs()).toISOString().replace(/[-:]|\.\d+/g, '');
    const path = join(this.#folder, `plinth-${time}.db`);
    const part = `${path}.part`;
    try {
      await (await files.open(part, 'wx', 'buffered', 'private')).close();
      const { signal } = this.#stop;
      const faults = [
        ...(await copyDatabase(database, part, signal)),
        ...(await checkDatabase(part, true, signal)),
      ];
      if (faults.length > 0) throw new Error(`${database} cannot be copied: ${faults.join('; ')}`);
      await this.#syncFile(part);
      await files.rename(part, path);
    } finally {
      await files.remove(part);
    }
    // The new copy is durable before an old copy is removed.
    await files.syncDirectory(this.#folder);
    for (const name of (await listSnapshots(files, dataDir)).slice(0, -KEPT_COUNT))
      await files.remove(join(this.#folder, name));
    log.debug({ file: path }, 'snapshot of plinth.db created');
  }

  async #syncFile(path: string): Promise<void> {
    const file = await this.#deps.files.open(path, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
