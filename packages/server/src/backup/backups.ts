import { createReadStream, type ReadStream } from 'node:fs';
import { join } from 'node:path';
import {
  type Clock,
  type FrozenFile,
  type FrozenFiles,
  type HttpService,
  type Logger,
  type Random,
  repeatJob,
} from '@plinth/kernel';
import { STORE_FILE } from '../folder/file-names.js';
import { readFolderId } from '../folder/folder-id.js';
import type { Stores } from '../folder/stores.js';
import { BACKED_UP, type BackupFile, describe, filesAt } from './backed-up-files.js';
import { backupError } from './backup-errors.js';
import { BACKUP_FORMAT_VERSION } from './backup-format.js';

/** Maximum number of open backups. Each keeps files on disk that would otherwise be deleted. */
const MAX_OPEN_COUNT = 2;
/** A backup is released after this time without a file request, because a client that disappears sends no signal. */
const IDLE_MS = 2 * 60_000;
const CHECK_INTERVAL_MS = 15_000;

/** The contents of a backup, as listed in its `backup.json`. Layout: docs/formats/backup.md. */
export interface BackupManifest {
  readonly format_version: number;
  readonly id: string;
  readonly created_at: string;
  /** Id of the data folder, which a restored copy does not share. */
  readonly folder_id: string;
  /** Messages for the user who restores the backup. */
  readonly left_out: readonly string[];
  readonly files: readonly BackupFile[];
}

type BackupOrigin = 'schedule' | 'client';

interface OpenBackup {
  readonly origin: BackupOrigin;
  readonly createdMs: number;
  readonly paths: ReadonlyMap<string, string>;
  readonly folder: string;
  readonly frozen: readonly FrozenFiles[];
  readonly onRelease: () => void;
  /** Open file streams, with the bytes sent at the last idle check. */
  readonly readers: Map<ReadStream, number>;
  lastReadMs: number;
}

interface BackupsDeps {
  readonly stores: Stores;
  /** Running services, and other parts that store files. */
  readonly services: readonly Pick<HttpService, 'name' | 'freeze'>[];
  /** Data that backups of this server do not contain. */
  readonly leftOut: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Open backups. Each is a consistent snapshot that exists until its client has read it. */
export class Backups {
  readonly #deps: BackupsDeps;
  readonly #folder: string;
  readonly #open = new Map<string, OpenBackup>();
  readonly #starting = new Set<Pick<OpenBackup, 'origin' | 'createdMs'>>();
  #ticker: Disposable | undefined;
  #readingId: Promise<string> | undefined;

  constructor(deps: BackupsDeps) {
    this.#deps = deps;
    this.#folder = join(deps.stores.dataDir, 'backup-temp');
  }

  /** Removes leftovers of an earlier process. */
  async start(): Promise<void> {
    await this.#deps.stores.files.removeTree(this.#folder);
    const job = {
      clock: this.#deps.clock,
      log: this.#deps.log,
      name: 'idle backups released',
      intervalMs: CHECK_INTERVAL_MS,
    };
    this.#ticker = repeatJob(job, () => this.#releaseIdle());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    for (const id of [...this.#open.keys()]) await this.release(id);
  }

  /**
   * Creates a consistent snapshot of a moment during the call.
   * @param onRelease called when the backup ends for any reason.
   * @throws `too_many_backups`.
   */
  async begin(onRelease: () => void, origin: BackupOrigin): Promise<BackupManifest> {
    if (this.#open.size + this.#starting.size >= MAX_OPEN_COUNT)
      throw backupError('too_many_backups', { running: this.#running() });
    const opening = { origin, createdMs: this.#deps.clock.nowMs() };
    this.#starting.add(opening);
    try {
      return await this.#begin(onRelease, opening);
    } finally {
      this.#starting.delete(opening);
    }
  }

  /** Describes the backups in progress. */
  #running(): string {
    return [...this.#open.values(), ...this.#starting]
      .map(({ origin, createdMs }) => `started by a ${origin} at ${isoSecond(createdMs)}`)
      .join(', ');
  }

  /** Returns a file of a backup. Throws `backup_not_found`. */
  read(id: string, name: string): ReadStream {
    const backup = this.#open.get(id);
    const path = backup?.paths.get(name);
    if (backup === undefined || path === undefined) throw backupError('backup_not_found');
    const stream = createReadStream(path);
    const { readers } = backup;
    backup.lastReadMs = this.#deps.clock.monotonicMs();
    readers.set(stream, 0);
    stream.once('close', () => {
      readers.delete(stream);
      backup.lastReadMs = this.#deps.clock.monotonicMs();
    });
    return stream;
  }

  /** Can be called twice. */
  async release(id: string): Promise<void> {
    const backup = this.#open.get(id);
    if (backup === undefined) return;
    this.#open.delete(id);
    for (const each of backup.frozen) each.release();
    backup.onRelease();
    await this.#deps.stores.files.removeTree(backup.folder);
  }

  async #begin(
    onRelease: () => void,
    opening: Pick<OpenBackup, 'origin' | 'createdMs'>,
  ): Promise<BackupManifest> {
    const { files } = this.#deps.stores;
    const id = this.#deps.random.uuidV7();
    const folder = join(this.#folder, id);
    await files.makeDirectory(folder);
    // Before the moment of the backup: everything acknowledged until then is in it.
    const { createdMs } = opening;
    const frozen = new Map<string, FrozenFiles>();
    try {
      await this.#freeze(folder, frozen);
      const all = await this.#filesOf(folder, frozen);
      const described: BackupFile[] = [];
      for (const file of all) described.push(await describe(files, file));
      const leftOut = [...frozen.values()].flatMap((each) => each.leftOut ?? []);
      const folderId = await this.folderId();
      // No `await` after this, or the backup would be counted twice: as open and as starting.
      this.#open.set(id, {
        ...opening,
        paths: new Map(all.map(({ name, path }) => [name, path])),
        folder,
        frozen: [...frozen.values()],
        onRelease,
        readers: new Map(),
        lastReadMs: this.#deps.clock.monotonicMs(),
      });
      return {
        format_version: BACKUP_FORMAT_VERSION,
        id,
        created_at: new Date(createdMs).toISOString(),
        folder_id: folderId,
        left_out: [...this.#deps.leftOut, ...leftOut],
        files: described,
      };
    } catch (error) {
      for (const each of frozen.values()) each.release();
      await files.removeTree(folder);
      throw error;
    }
  }

  /**
   * Returns the folder id. It is created for the first backup, because the server must not write at
   * startup when the disk is full.
   */
  async folderId(): Promise<string> {
    const { stores, random } = this.#deps;
    this.#readingId ??= readFolderId(stores.dataDir, stores.files, random).catch((error) => {
      this.#readingId = undefined;
      throw error;
    });
    return await this.#readingId;
  }

  /** Freezes the services one within the other, so that all of them are frozen when the innermost one copies the store. */
  async #freeze(folder: string, frozen: Map<string, FrozenFiles>): Promise<void> {
    const waiting = [...this.#deps.services];
    const next = async (): Promise<void> => {
      const service = waiting.shift();
      if (service === undefined)
        return await this.#deps.stores.local.snapshot(join(folder, STORE_FILE));
      if (service.freeze === undefined) return await next();
      frozen.set(service.name, await service.freeze({ copyStore: next, folder }));
    };
    await next();
  }

  async #filesOf(
    folder: string,
    frozen: ReadonlyMap<string, FrozenFiles>,
  ): Promise<readonly FrozenFile[]> {
    const { files, dataDir } = this.#deps.stores;
    const all: FrozenFile[] = [{ name: STORE_FILE, path: join(folder, STORE_FILE) }];
    for (const { service, paths } of BACKED_UP) {
      const own = frozen.get(service)?.files;
      if (own !== undefined) all.push(...own);
      else for (const path of paths) all.push(...(await filesAt(files, dataDir, path)));
    }
    return all;
  }

  async #releaseIdle(): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [id, backup] of [...this.#open]) {
      for (const [stream, before] of backup.readers) {
        if (stream.bytesRead > before) backup.lastReadMs = nowMs;
        backup.readers.set(stream, stream.bytesRead);
      }
      if (nowMs - backup.lastReadMs >= IDLE_MS) await this.release(id);
    }
  }
}

const isoSecond = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
