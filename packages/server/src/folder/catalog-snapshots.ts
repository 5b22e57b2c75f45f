import { chmod, mkdir, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, checkDatabase, copyDatabase, type Logger, repeatJob } from '@plinth/kernel';
import { STORE_FILE } from './data-folder.js';

/** Below the data folder; with the rights of `plinth.db`, because they hold the same secrets. */
export const SNAPSHOT_FOLDER = 'snapshots';
const SNAPSHOT = /^plinth-\d{8}T\d{6}Z\.db$/;
const KEPT_COUNT = 3;
/** Larger databases are for backups: copies in the same folder would take too much of the disk. */
const MOST_BYTES = 1024 * 1024 * 1024;
/** So much room there must be for each byte of the copy, or none is made. */
const LEAST_ROOM_SHARE = 3;
const LOOK_MS = 600_000;

/** Names of the complete ones, oldest first; none where there is no folder. */
export async function listSnapshots(dataDir: string): Promise<readonly string[]> {
  const names = await readdir(join(dataDir, SNAPSHOT_FOLDER)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return names.filter((name) => SNAPSHOT.test(name)).sort();
}

/** Copies `plinth.db` from time to time, when it has changed, and keeps the last three copies. */
export class CatalogSnapshots {
  readonly #dataDir: string;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #job: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isRefused = false;

  constructor(needs: {
    readonly dataDir: string;
    /** 0: none are made. */
    readonly intervalSec: number;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#dataDir = needs.dataDir;
    this.#intervalMs = needs.intervalSec * 1000;
    this.#clock = needs.clock;
    this.#log = needs.log;
    if (needs.intervalSec === 0) return;
    const intervalMs = Math.min(this.#intervalMs, LOOK_MS);
    const job = { clock: needs.clock, log: needs.log, name: 'snapshot of plinth.db', intervalMs };
    this.#job = repeatJob(job, async () => {
      this.#running ??= this.#makeIfDue().finally(() => {
        this.#running = undefined;
      });
      await this.#running;
    });
  }

  /** Waits for the copy that is being made. */
  async close(): Promise<void> {
    this.#job?.[Symbol.dispose]();
    await this.#running?.catch(() => undefined);
  }

  async #makeIfDue(): Promise<void> {
    const database = join(this.#dataDir, STORE_FILE);
    const { size, mtimeMs } = await stat(database);
    const journal = await stat(`${database}-wal`).catch(() => undefined);
    const newest = (await listSnapshots(this.#dataDir)).at(-1);
    if (newest !== undefined) {
      const { mtimeMs: madeMs } = await stat(join(this.#dataDir, SNAPSHOT_FOLDER, newest));
      const isChanged = Math.max(mtimeMs, journal?.mtimeMs ?? 0) > madeMs;
      if (!isChanged || this.#clock.nowMs() - madeMs < this.#intervalMs) return;
    }
    const { bavail, bsize } = await statfs(this.#dataDir);
    const sizeBytes = size + (journal?.size ?? 0);
    const isTooLarge = sizeBytes > MOST_BYTES || sizeBytes * LEAST_ROOM_SHARE > bavail * bsize;
    if (isTooLarge) {
      if (!this.#isRefused) this.#log.warn({ sizeBytes }, 'no snapshot of plinth.db: too large');
      this.#isRefused = true;
      return;
    }
    this.#isRefused = false;
    await this.#make(database);
  }

  async #make(database: string): Promise<void> {
    const folder = join(this.#dataDir, SNAPSHOT_FOLDER);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const time = new Date(this.#clock.nowMs()).toISOString().replace(/[-:]|\.\d+/g, '');
    const path = join(folder, `plinth-${time}.db`);
    const part = `${path}.part`;
    try {
      await writeFile(part, '', { mode: 0o600 });
      await chmod(part, 0o600); // Also where one was left behind.
      const faults = [
        ...(await copyDatabase(database, part)),
        ...(await checkDatabase(part, true)),
      ];
      if (faults.length > 0) throw new Error(`${database} cannot be copied: ${faults.join('; ')}`);
      await rename(part, path);
    } finally {
      await rm(part, { force: true });
    }
    for (const name of (await listSnapshots(this.#dataDir)).slice(0, -KEPT_COUNT))
      await rm(join(folder, name));
    this.#log.debug({ file: path }, 'snapshot of plinth.db made');
  }
}
