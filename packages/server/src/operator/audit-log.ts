import { join } from 'node:path';
import type {
  BackupMoment,
  Clock,
  FileHandle,
  FileSystem,
  FrozenFile,
  FrozenFiles,
  Logger,
} from '@plinth/kernel';
import { messageOf } from '@plinth/kernel';

/** A change, or attempted change, by an authenticated client. */
export interface AuditEntry {
  readonly timeMs: number;
  /** Name of a token or user; `undefined` if the server requires no credential. */
  readonly who: string | undefined;
  readonly address: string;
  /** Method and pattern of the route, or the statement. */
  readonly action: string;
  /** The object of the change: `db=a name=x`. */
  readonly target: string;
  /** HTTP status, or the error of a statement; `ok` on success. */
  readonly result: string;
}

/** Below the data folder. */
export const AUDIT_FOLDER = 'audit';
const FILE = 'audit.jsonl';
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Rotated files kept in addition to the current one; `audit.1.jsonl` is the newest of them. */
const KEPT_FILES = 4;
const MAX_ENTRIES = 1000;
const MAX_WAITING = 10_000;
/** Longer strings are cut, in characters. */
const MAX_TEXT_LENGTH = 1000;
/** Bytes read from the end of the newest file at startup, to restore the most recent entries. */
const TAIL_BYTES = 512 * 1024;

/**
 * Records the author, object and result of each change: recent entries in memory, all entries in rotated files.
 * Responses do not wait for their entry.
 */
export class AuditLog {
  readonly #folder: string;
  readonly #files: FileSystem;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #entries: AuditEntry[] = [];
  #waiting: AuditEntry[] = [];
  #lostCount = 0;
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  #file: FileHandle | undefined;
  #sizeBytes = 0;

  constructor(deps: {
    readonly folder: string;
    readonly files: FileSystem;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#folder = deps.folder;
    this.#files = deps.files;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Loads the most recent entries. */
  async open(): Promise<void> {
    await this.#files.makeDirectory(this.#folder);
    await this.#openFile();
    const file = this.#file;
    if (file === undefined) return;
    const from = Math.max(0, this.#sizeBytes - TAIL_BYTES);
    const tail = Buffer.alloc(this.#sizeBytes - from);
    await file.read(tail, from);
    for (const line of tail.toString().split('\n')) {
      const entry = entryOf(line); // The first entry may be truncated, as may the last entry after a power failure.
      if (entry !== undefined) this.#remember(entry);
    }
    // New entries start on a new line.
    if (tail.length > 0 && tail.at(-1) !== 0x0a) await this.#append(Buffer.from('\n'));
  }

  /** Oldest first. */
  entries(): readonly AuditEntry[] {
    return this.#entries;
  }

  note(given: Omit<AuditEntry, 'timeMs'>): void {
    const entry = {
      timeMs: this.#clock.nowMs(),
      who: given.who?.slice(0, MAX_TEXT_LENGTH),
      address: given.address,
      action: given.action.slice(0, MAX_TEXT_LENGTH),
      target: given.target.slice(0, MAX_TEXT_LENGTH),
      result: given.result.slice(0, MAX_TEXT_LENGTH),
    };
    this.#remember(entry);
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(entry);
    else this.#lostCount += 1;
    if (!this.#isWriting) this.#writing = this.#write();
  }

  /** Copies the files for a backup. Entries that arrive in the meantime are written afterwards. */
  async freeze({ copyStore, folder }: BackupMoment): Promise<FrozenFiles> {
    await copyStore();
    while (this.#isWriting) await this.#writing;
    this.#isWriting = true;
    const copying = this.#copyTo(folder).finally(() => {
      this.#isWriting = false;
      if (this.#waiting.length > 0) this.#writing = this.#write();
    });
    this.#writing = copying.then(
      () => undefined,
      () => undefined,
    );
    return { files: await copying, release: () => undefined };
  }

  async close(): Promise<void> {
    while (this.#isWriting) await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  #remember(entry: AuditEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#waiting.length > 0) {
        const entries = this.#waiting;
        this.#waiting = [];
        if (this.#sizeBytes >= MAX_FILE_BYTES) await this.#rotate();
        await this.#append(Buffer.from(entries.map((entry) => `${lineOf(entry)}\n`).join('')));
      }
      if (this.#lostCount > 0) {
        this.#log.error({ lostCount: this.#lostCount }, 'audit log entries lost');
        this.#lostCount = 0;
      }
    } catch (error) {
      // The entries stay in memory, and the next entry triggers a retry.
      this.#log.error({ err: error, why: messageOf(error) }, 'cannot write the audit log');
    } finally {
      this.#isWriting = false;
    }
  }

  async #copyTo(folder: string): Promise<readonly FrozenFile[]> {
    const copies: FrozenFile[] = [];
    for (const name of await this.#files.list(this.#folder)) {
      const path = join(folder, name);
      // Only the newest file still changes.
      if (name === FILE) await this.#copyNewest(path);
      else await this.#files.link(join(this.#folder, name), path);
      copies.push({ name: `${AUDIT_FOLDER}/${name}`, path });
    }
    return copies;
  }

  async #copyNewest(path: string): Promise<void> {
    if (this.#file === undefined) await this.#openFile();
    const bytes = new Uint8Array(this.#sizeBytes);
    await this.#file?.read(bytes, 0);
    const copy = await this.#files.open(path, 'wx', 'buffered', 'private');
    try {
      await copy.write([bytes], 0);
    } finally {
      await copy.close();
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    // A failed rotation has closed the file.
    if (this.#file === undefined) await this.#openFile();
    await this.#file?.write([bytes], this.#sizeBytes);
    this.#sizeBytes += bytes.byteLength;
  }

  async #openFile(): Promise<void> {
    const path = join(this.#folder, FILE);
    const stat = await this.#files.stat(path);
    this.#file = await this.#files.open(
      path,
      stat === undefined ? 'wx' : 'r+',
      'buffered',
      'private',
    );
    this.#sizeBytes = stat?.sizeBytes ?? 0;
  }

  async #rotate(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    const nameOf = (age: number): string =>
      join(this.#folder, age === 0 ? FILE : `audit.${age}.jsonl`);
    await this.#files.remove(nameOf(KEPT_FILES));
    for (let age = KEPT_FILES - 1; age >= 0; age--) {
      if ((await this.#files.stat(nameOf(age))) === undefined) continue;
      await this.#files.rename(nameOf(age), nameOf(age + 1));
    }
    await this.#openFile();
  }
}

function lineOf({ timeMs, who, ...rest }: AuditEntry): string {
  return JSON.stringify({ time: new Date(timeMs).toISOString(), who: who ?? null, ...rest });
}

/** Whether a line of the file is a complete entry. */
export const isAuditLine = (line: string): boolean => entryOf(line) !== undefined;

function entryOf(line: string): AuditEntry | undefined {
  try {
    const { time, who, address, action, target, result } = JSON.parse(line);
    const timeMs = Date.parse(time);
    if (Number.isNaN(timeMs) || typeof action !== 'string') return undefined;
    return { timeMs, who: who ?? undefined, address, action, target, result };
  } catch {
    return undefined;
  }
}
