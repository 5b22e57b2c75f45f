import { dirname, join } from 'node:path';
import {
  type Clock,
  crc32c,
  type FileSystem,
  type Logger,
  openRelationalStore,
  type Random,
  repeatJob,
} from '@plinth/kernel';
import type { FrozenObjects, Tsdb } from '@plinth/tsdb';
import type { Stores } from '../stores.js';
import { BackupNotFound, TooManyBackups } from './backup-errors.js';
import { BACKUP_FORMAT_VERSION } from './backup-format.js';

/** Each keeps files on disk that would go otherwise. */
const MAX_OPEN_COUNT = 2;
/** A backup that nobody has read of for so long is given up. */
const IDLE_MS = 15 * 60_000;
const CHECK_INTERVAL_MS = 60_000;
const SUM_PIECE_BYTES = 4 * 1024 * 1024;

/** Keys of the node, made once: without them what is sealed in the relational store cannot be read. */
const KEY_FILES = ['master.key', 'accounts/keys.json'];

export interface BackupFile {
  /** Below the data folder. */
  readonly name: string;
  readonly size_bytes: number;
  readonly crc32c: number;
}

/** What a backup consists of; `backup.json` beside its files. Layout: docs/formats/backup.md. */
export interface BackupManifest {
  readonly format_version: number;
  readonly id: string;
  readonly created_at: string;
  readonly cluster_uuid: string;
  /** True: accounts, tokens and hooks lie in PostgreSQL and are not part of it. */
  readonly has_external_database: boolean;
  readonly files: readonly BackupFile[];
}

interface OpenBackup {
  readonly manifest: BackupManifest;
  readonly folder: string;
  readonly frozen: FrozenObjects;
  lastReadMs: number;
}

/** Backups that are being read: the state of one moment, kept until whoever reads it is done. */
export class Backups {
  readonly #stores: Stores;
  readonly #tsdb: Tsdb;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #hasExternalDatabase: boolean;
  readonly #folder: string;
  readonly #open = new Map<string, OpenBackup>();
  #beginningCount = 0;
  #ticker: Disposable | undefined;

  constructor(needs: {
    readonly stores: Stores;
    readonly tsdb: Tsdb;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
    readonly hasExternalDatabase: boolean;
  }) {
    this.#stores = needs.stores;
    this.#tsdb = needs.tsdb;
    this.#clock = needs.clock;
    this.#random = needs.random;
    this.#log = needs.log;
    this.#hasExternalDatabase = needs.hasExternalDatabase;
    this.#folder = join(needs.stores.dataDir, 'backup-temp');
  }

  /** What an earlier process left behind goes. */
  async start(): Promise<void> {
    await this.#stores.files.removeTree(this.#folder);
    const job = {
      clock: this.#clock,
      log: this.#log,
      name: 'idle backups released',
      intervalMs: CHECK_INTERVAL_MS,
    };
    this.#ticker = repeatJob(job, () => this.#releaseIdle());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    for (const id of [...this.#open.keys()]) await this.release(id);
  }

  /** Resolves to the state that holds everything acknowledged before the call. */
  async begin(): Promise<BackupManifest> {
    if (this.#open.size + this.#beginningCount >= MAX_OPEN_COUNT) throw new TooManyBackups();
    this.#beginningCount++;
    try {
      return await this.#begin();
    } finally {
      this.#beginningCount--;
    }
  }

  /** Path of a file of a backup. */
  pathOf(id: string, name: string): string {
    const backup = this.#open.get(id);
    if (backup?.manifest.files.some((file) => file.name === name) !== true) {
      throw new BackupNotFound();
    }
    backup.lastReadMs = this.#clock.monotonicMs();
    return join(name.startsWith('objects/') ? this.#stores.dataDir : backup.folder, name);
  }

  async release(id: string): Promise<void> {
    const backup = this.#open.get(id);
    if (backup === undefined) throw new BackupNotFound();
    this.#open.delete(id);
    backup.frozen.release();
    await this.#stores.files.removeTree(backup.folder);
  }

  async #begin(): Promise<BackupManifest> {
    const { files, local, dataDir } = this.#stores;
    const id = this.#random.uuidV7();
    const folder = join(this.#folder, id);
    await files.makeDirectory(folder);
    const path = join(folder, 'plinth.db');
    let frozen: FrozenObjects | undefined;
    try {
      frozen = await this.#tsdb.freeze(() => local.snapshot(path));
      await this.#adapt(path);
      const own = [await describe(files, folder, 'plinth.db')];
      for (const name of KEY_FILES) {
        if ((await files.stat(join(dataDir, name))) === undefined) continue;
        await files.makeDirectory(dirname(join(folder, name)));
        await files.link(join(dataDir, name), join(folder, name));
        own.push(await describe(files, folder, name));
      }
      const manifest: BackupManifest = {
        format_version: BACKUP_FORMAT_VERSION,
        id,
        created_at: new Date(this.#clock.nowMs()).toISOString(),
        cluster_uuid: this.#tsdb.clusterUuid,
        has_external_database: this.#hasExternalDatabase,
        files: [
          ...own,
          ...frozen.files.map(({ objectName, sizeBytes, checksum }) => ({
            name: `objects/${objectName}`,
            size_bytes: sizeBytes,
            crc32c: checksum,
          })),
        ],
      };
      this.#open.set(id, { manifest, folder, frozen, lastReadMs: this.#clock.monotonicMs() });
      return manifest;
    } catch (error) {
      frozen?.release();
      await files.removeTree(folder);
      throw error;
    }
  }

  async #adapt(path: string): Promise<void> {
    const copy = await openRelationalStore({
      path,
      clock: this.#clock,
      fileSystem: this.#stores.files,
    });
    try {
      await this.#tsdb.adaptSnapshot(copy);
    } finally {
      await copy.close();
    }
  }

  async #releaseIdle(): Promise<void> {
    const untilMs = this.#clock.monotonicMs() - IDLE_MS;
    for (const [id, { lastReadMs }] of [...this.#open]) {
      if (lastReadMs <= untilMs) await this.release(id);
    }
  }
}

async function describe(files: FileSystem, folder: string, name: string): Promise<BackupFile> {
  const handle = await files.open(join(folder, name), 'r');
  try {
    const piece = new Uint8Array(SUM_PIECE_BYTES);
    let sizeBytes = 0;
    let sum = 0;
    for (let count = -1; count !== 0; ) {
      count = await handle.read(piece, sizeBytes);
      sum = crc32c([piece.subarray(0, count)], sum);
      sizeBytes += count;
    }
    return { name, size_bytes: sizeBytes, crc32c: sum };
  } finally {
    await handle.close();
  }
}
