import { dirname } from 'node:path';
import type { FileSystem } from '../../fs/file-system.js';
import type { LogLoss } from '../../journal/log-loss.js';
import { storeError } from '../relational-errors.js';

/** Of a database file: where SQLite keeps `user_version`, a big-endian number of four bytes. */
const RUN_OFFSET = 60;
const WAL_HEADER_SIZE = 32;

/**
 * A file beside the database that is there while the journal of SQLite holds something that the database has not. SQLite takes a
 * journal that is gone for an empty one: after a kill the database would be what it was long ago, or new, with no word.
 *
 * Every opening is a run with a number. The number is stored in the database first, as `user_version`, and therefore in the
 * journal; then in this file; and the file goes before the database is closed. A database that does not have the number of the file has lost
 * its journal. One that has it may have lost later pages: whoever opened it with other tools has moved the journal into it.
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

  /** Before SQLite opens the database. Throws `store_damaged`; a repair forgets the run. */
  async check(repair: boolean): Promise<LogLoss | undefined> {
    const marked = await this.#marked();
    if (marked === undefined) return undefined;
    const wal = `${this.#database}-wal`;
    const walSizeBytes = (await this.#fileSystem.stat(wal))?.sizeBytes ?? 0;
    if (walSizeBytes > WAL_HEADER_SIZE || (await this.#stored()) >= marked) return undefined;
    if (!repair) {
      const why =
        'it is missing or empty, and the database was not closed: what was stored last is gone';
      throw storeError('store_damaged', { file: wal, offset: 0, why });
    }
    await this.remove();
    return { kind: 'missing', file: wal, offset: 0, lostBytes: 0 };
  }

  /** When `number` is stored in the database, and the journal has it. */
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

  /** Before the database is closed. */
  async remove(): Promise<void> {
    await this.#fileSystem.remove(this.#path);
    await this.#fileSystem.syncDirectory(dirname(this.#path));
  }

  /** `undefined`: there is none, or a crash cut it short. */
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
