import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Clock,
  ConfigInvalid,
  type Counter,
  CronSchedule,
  type Logger,
  type Metrics,
} from '@plinth/kernel';
import type { BackupSettings } from '../settings.js';
import { backupError } from './backup-errors.js';
import { readBackup, syncFolders, writeChecked, writeManifest } from './backup-folder.js';
import type { BackupManifest, Backups } from './backups.js';

/** Names contain the time, followed by the id of the data folder if another server made a backup in the same second. */
const NAME = /^plinth-\d{8}T\d{6}Z(?:-[\w-]+)?$/;
const PROBE_NAME = '.plinth-write-test';
/** Node timers cannot exceed 24 days. */
const MAX_WAIT_MS = 3_600_000;
/** Interval at which a backup retries while too many others are in progress. */
const RETRY_MS = 5_000;

interface ScheduledBackupsDeps {
  readonly backups: Backups;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface BackupMetrics {
  lastSuccessMs: number;
  readonly failures: Counter;
}

/** Adds the backup metrics, even without a schedule, so that the metrics page always contains the same metrics. */
function addBackupMetrics(metrics: Metrics, clock: Clock): BackupMetrics {
  const failures = metrics.counter({
    name: 'plinth_backup_failures_total',
    help: 'Failed scheduled backups.',
  });
  const backupMetrics: BackupMetrics = { lastSuccessMs: 0, failures };
  metrics.gauge({
    name: 'plinth_backup_last_success_timestamp_seconds',
    help: 'Start time of the newest scheduled backup; 0 without one.',
    read: () => backupMetrics.lastSuccessMs / 1000,
  });
  metrics.add({
    name: 'plinth_backup_age_seconds',
    help: 'Time since the start of the newest complete scheduled backup; absent without one.',
    type: 'gauge',
    samples: () =>
      backupMetrics.lastSuccessMs === 0
        ? []
        : [{ value: Math.max(0, clock.nowMs() - backupMetrics.lastSuccessMs) / 1000 }],
  });
  return backupMetrics;
}

/** Returns one line for each invalid setting. */
export function backupProblems({
  schedule,
  folder,
}: Pick<BackupSettings, 'schedule' | 'folder'>): readonly string[] {
  if (schedule === undefined) return [];
  const isValid = CronSchedule.parse(schedule) !== undefined;
  return [
    ...(isValid ? [] : [`backup.schedule: ${CronSchedule.faultOf(schedule)}`]),
    ...(folder === undefined
      ? ['backup.folder: required by backup.schedule; set it to a folder for the backups']
      : []),
  ];
}

/** Scheduled backups to a folder, in the same format as `plinth backup`. */
export class ScheduledBackups {
  readonly #schedule: CronSchedule;
  readonly #folder: string;
  readonly #keep: number;
  readonly #backups: Backups;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  readonly #metrics: BackupMetrics;
  #running: Promise<void> = Promise.resolve();

  /** Returns the scheduled backups; `undefined` when no schedule is set. Throws `ConfigInvalid`. */
  static of(settings: BackupSettings, deps: ScheduledBackupsDeps): ScheduledBackups | undefined {
    const { schedule, folder, keep } = settings;
    const backupMetrics = addBackupMetrics(deps.metrics, deps.clock);
    if (schedule === undefined) return undefined;
    const cron = CronSchedule.parse(schedule);
    if (cron === undefined || folder === undefined)
      throw new ConfigInvalid(backupProblems(settings));
    return new ScheduledBackups(cron, resolve(folder), keep, deps, backupMetrics);
  }

  private constructor(
    schedule: CronSchedule,
    folder: string,
    keep: number,
    { backups, clock, log }: ScheduledBackupsDeps,
    backupMetrics: BackupMetrics,
  ) {
    this.#schedule = schedule;
    this.#folder = folder;
    this.#keep = keep;
    this.#backups = backups;
    this.#clock = clock;
    this.#log = log;
    this.#metrics = backupMetrics;
  }

  async prepare(): Promise<void> {
    await this.#checkFolder();
    const newest = (await this.#names()).at(-1);
    if (newest !== undefined) this.#metrics.lastSuccessMs = timeOf(newest);
  }

  /** Called when all services have started. The schedule runs until `close`. */
  begin(): void {
    this.#running = this.#run();
  }

  /** Discards an incomplete backup. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** A folder that cannot be written to is reported now, not at the time of the first backup. */
  async #checkFolder(): Promise<void> {
    const probe = join(this.#folder, PROBE_NAME);
    try {
      await this.#makeFolder();
      await writeFile(probe, '', { mode: 0o600 });
      await rm(probe);
    } catch (err) {
      this.#log.error({ err, folder: this.#folder }, 'backup folder is not writable');
    }
  }

  async #makeFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let lastMs = this.#clock.nowMs();
    while (!signal.aborted) {
      const nextMs = this.#schedule.nextMs(lastMs);
      if (nextMs === undefined) return;
      const waitMs = nextMs - this.#clock.nowMs();
      if (waitMs > 0) {
        await this.#clock.sleep(Math.min(waitMs, MAX_WAIT_MS), signal).catch(() => undefined);
        continue;
      }
      // Scheduled times during the previous backup are skipped.
      lastMs = this.#clock.nowMs();
      await this.#makeBackup(nextMs);
    }
  }

  async #makeBackup(timeMs: number): Promise<void> {
    let name = nameOf(timeMs);
    const startedMs = this.#clock.monotonicMs();
    try {
      const folderId = await this.#backups.folderId();
      await this.#makeFolder();
      await this.#removeIncomplete(folderId);
      const part = join(this.#folder, `${name}${partSuffix(folderId)}`);
      const sizeBytes = await this.#copy(part, this.#latestStartMs(timeMs));
      name = await this.#publish(part, name, folderId);
      this.#metrics.lastSuccessMs = timeMs;
      const durationMs = Math.round(this.#clock.monotonicMs() - startedMs);
      this.#log.info({ backup: name, sizeBytes, durationMs }, 'backup created');
      await this.#removeOld(folderId);
    } catch (err) {
      if (this.#stopping.signal.aborted) return;
      this.#metrics.failures.inc();
      this.#log.error({ err, backup: name, folder: this.#folder }, 'backup failed');
    }
  }

  /** Renames a complete backup and returns its name. Another server may have created a backup in the same second. */
  async #publish(part: string, name: string, folderId: string): Promise<string> {
    try {
      await rename(part, join(this.#folder, name));
      return name;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // of a system call
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
      const unique = `${name}-${folderId}`;
      await rename(part, join(this.#folder, unique));
      return unique;
    }
  }

  /** Returns the next scheduled time, at most an hour later. */
  #latestStartMs(timeMs: number): number {
    return Math.min(this.#schedule.nextMs(timeMs) ?? Infinity, timeMs + MAX_WAIT_MS);
  }

  /** Waits until `latestMs` while too many other backups are in progress. */
  async #beginUntil(latestMs: number, onEnd: () => void): Promise<BackupManifest> {
    const { signal } = this.#stopping;
    for (let isNoted = false; ; isNoted = true) {
      try {
        return await this.#backups.begin(onEnd, 'schedule');
      } catch (error) {
        const isLast = this.#clock.nowMs() + RETRY_MS >= latestMs;
        if (isLast || !backupError.is(error, 'too_many_backups')) throw error;
        if (!isNoted) this.#log.warn({ why: error.message }, 'scheduled backup is waiting');
      }
      await this.#clock.sleep(RETRY_MS, signal);
    }
  }

  /** Removes its files on failure. Returns the size of the backup in bytes. */
  async #copy(to: string, latestMs: number): Promise<number> {
    const ended = new AbortController();
    const manifest = await this.#beginUntil(latestMs, () => ended.abort());
    try {
      await mkdir(to, { mode: 0o700 });
      let sizeBytes = 0;
      for (const file of manifest.files) {
        this.#stopping.signal.throwIfAborted();
        ended.signal.throwIfAborted();
        const pieces = this.#backups.read(manifest.id, file.name);
        await writeChecked(join(to, file.name), pieces, file, () => undefined);
        sizeBytes += file.size_bytes;
      }
      await syncFolders(to, manifest.files);
      await writeManifest(to, manifest);
      return sizeBytes;
    } catch (error) {
      await rm(to, { recursive: true, force: true }).catch(() => undefined);
      throw error;
    } finally {
      await this.#backups.release(manifest.id);
    }
  }

  /** Returns the complete backups of a schedule, oldest first. */
  async #names(): Promise<string[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(() => []);
    const folders = entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name));
    return folders.map(({ name }) => name).sort();
  }

  /**
   * Never removes backups of another data folder: a copy that was restored as a test, with the configuration of the
   * first server, would remove the real backups. Backups of earlier releases do not contain a folder id; they are
   * treated as own backups while no other folder writes here.
   */
  async #removeOld(ownId: string): Promise<void> {
    const found: { readonly name: string; readonly folderId: string | undefined }[] = [];
    for (const name of await this.#names()) {
      const manifest = await readBackup(join(this.#folder, name)).catch(() => undefined);
      // A folder whose origin cannot be read is not removed.
      if (manifest !== undefined) found.push({ name, folderId: manifest.folder_id });
    }
    const others = found.filter(({ folderId }) => folderId !== undefined && folderId !== ownId);
    if (others.length > 0) {
      this.#log.warn(
        { folder: this.#folder, count: others.length },
        'backups of another data folder are not removed',
      );
    }
    const removable = found.filter(
      ({ folderId }) => folderId === ownId || (folderId === undefined && others.length === 0),
    );
    for (const { name } of removable.slice(0, -this.#keep)) {
      await rm(join(this.#folder, name), { recursive: true });
    }
  }

  /** Removes unfinished backups of an earlier process on this data folder. */
  async #removeIncomplete(ownId: string): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const isOwn = name.startsWith('plinth-') && name.endsWith(partSuffix(ownId));
      if (isOwn) await rm(join(this.#folder, name), { recursive: true });
    }
  }
}

const partSuffix = (folderId: string): string => `.${folderId}.part`;

function nameOf(timeMs: number): string {
  return `plinth-${new Date(timeMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

function timeOf(name: string): number {
  const [, y, mo, d, h, mi, s] = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(name) ?? [];
  return Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s));
}
