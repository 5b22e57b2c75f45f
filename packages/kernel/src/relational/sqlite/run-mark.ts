import { dirname } from 'node:path';
import type { LogLoss } from '../../commit-log/log-loss.js';
import type { FileSystem } from '../../fs/file-system.js';
import { storeError } from '../relational-errors.js';

/** Offset in a database file of `user_version`, a four-byte big-endian number. */
const RUN_OFFSET = 60;
const WAL_HEADER_SIZE = 32;

/**
 * A file next to the database that exists while the SQLite journal contains data that is not in the database. SQLite
 * treats a missing journal as empty: if the process is killed, the database could silently revert to an older state.
 *
 * Every time the database is opened, a numbered run starts. The number is stored in the database as `user_version`, and
 * so in the journal, and then in this file. The file is removed before the database is closed. If the database does not
 * contain the number in the file, its journal is lost. If it does, later pages may still be lost if another tool has
 * checkpointed the journal.
 */
export class RunMark {
  readonly #fileSystem: FileSystem;
  readonly #database: string;
  readonly #path: string;

  constructor(fileSystem: FileSystem, database: string) {
    this.#fileSystem = fileSystem;
    this.#database = database;
    this.#path = `${database}-run`;
  }

  /** Must be called before SQLite opens the database. Throws `store_damaged`; a repair ignores the run. */
  async check(repair: boolean): Promise<LogLoss | undefined> {
    const marked = await this.#marked();
    if (marked === undefined) return undefined;
    const wal = `${this.#database}-wal`;
    const walSizeBytes = (await this.#fileSystem.stat(wal))?.sizeBytes ?? 0;
    if (walSizeBytes > WAL_HEADER_SIZE || (await this.#stored()) >= marked) return undefined;
    if (!repair) {
      const why =
        'the journal is missing or empty although the database was not closed: the last transactions are lost';
      throw storeError('store_damaged', { file: wal, offset: 0, why });
    }
    await this.remove();
    return { kind: 'missing', file: wal, offset: 0, lostBytes: 0 };
  }

  /** Must be called when `number` is in the database and its journal. */
  async set(number: number): Promise<void> {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, number);
    const file = await this.#fileSystem.open(this.#path, 'w', 'buffered', 'private');
    try {
      await file.write([bytes], 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#fileSystem.syncDirectory(dirname(this.#path));
  }

  /** Must be called before the database is closed. */
  async remove(): Promise<void> {
    await this.#fileSystem.remove(this.#path);
    await this.#fileSystem.syncDirectory(dirname(this.#path));
  }

  /** `undefined` when the file is missing or was truncated by a crash. */
  async #marked(): Promise<number | undefined> {
    return await this.#numberAt(this.#path, 0);
  }

  async #stored(): Promise<number> {
    return (await this.#numberAt(this.#database, RUN_OFFSET)) ?? 0;
  }

  async #numberAt(path: string, offset: number): Promise<number | undefined> {
    if ((await this.#fileSystem.stat(path)) === undefined) return undefined;
    const bytes = new Uint8Array(4);
    const file = await this.#fileSystem.open(path, 'r');
    try {
      if ((await file.read(bytes, offset)) < bytes.length) return undefined;
    } finally {
      await file.close();
    }
    return new DataView(bytes.buffer).getUint32(0);
  }
}
