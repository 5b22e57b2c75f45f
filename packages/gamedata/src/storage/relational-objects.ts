import {
  objectError,
  RawStatements,
  type RelationalStore,
  SHARED_NOW_MS,
  type SqlConnection,
} from '@plinth/kernel';
import { LINES_FOLDER, type LineObjects } from './group-store.js';

/**
 * Age below which an object is not removed. A later transaction stores the manifest that uses the object. This age is
 * far longer than that transaction takes.
 */
const MIN_AGE_MS = 3_600_000;
const IS_OLD_ENOUGH = `put_ms < ${SHARED_NOW_MS} - ${MIN_AGE_MS}`;

/** Another node has removed an object that a change was about to use. */
export class ObjectsGone extends Error {
  override readonly name = 'ObjectsGone';
  readonly kind = 'objects_gone';
  constructor(count: number) {
    super(`${count} game data objects were removed before the change was stored`);
  }
}

/**
 * Refreshes the age of objects that a transaction uses, because they may stem from an attempt that
 * failed long ago. Only on PostgreSQL, within the transaction. Throws `ObjectsGone`.
 */
export async function renewObjects(
  tx: SqlConnection,
  plainNames: readonly string[],
): Promise<void> {
  const names = [...new Set(plainNames)].map((name) => `${LINES_FOLDER}/${name}`);
  const raw = new RawStatements('postgresql');
  const renewed = await raw.run(
    tx,
    `update gamedata_objects set put_ms = ${SHARED_NOW_MS} where ${raw.isOneOf('name')}`,
    [JSON.stringify(names)],
  );
  if (renewed < names.length) throw new ObjectsGone(names.length - renewed);
}

/** Objects in a PostgreSQL database shared by nodes. */
export class RelationalObjects implements LineObjects {
  readonly #store: RelationalStore;
  readonly #sql: RawStatements;

  constructor(store: RelationalStore) {
    this.#store = store;
    this.#sql = new RawStatements(store.system);
  }

  /**
   * Stores an object or replaces a corrupt one. Refreshes its age, because it is about to be used.
   */
  async put(name: string, parts: readonly Uint8Array[]): Promise<void> {
    await this.#change(
      `insert into gamedata_objects (name, bytes, put_ms) values (?, ?, ${SHARED_NOW_MS})
        on conflict (name) do update set bytes = excluded.bytes, put_ms = excluded.put_ms`,
      [name, Buffer.concat(parts)],
    );
  }

  async get(name: string): Promise<Uint8Array<ArrayBuffer>> {
    const rows = await this.#sql.all<{ readonly bytes: Uint8Array<ArrayBuffer> }>(
      this.#store.reader(),
      'select bytes from gamedata_objects where name = ?',
      [name],
    );
    const [row] = rows;
    if (row === undefined) throw objectError('object_not_found', name);
    return row.bytes;
  }

  /** Returns the names without a stored object. */
  async missing(names: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#sql.all<{ readonly name: string }>(
      this.#store.reader(),
      `select name from gamedata_objects where ${this.#sql.isOneOf('name')}`,
      [JSON.stringify(names)],
    );
    const found = new Set(rows.map(({ name }) => name));
    return names.filter((name) => !found.has(name));
  }

  /** Objects old enough that no change can be about to use them. */
  async list(prefix: string): Promise<readonly { name: string; sizeBytes: number }[]> {
    const rows = await this.#sql.all<{ readonly name: string; readonly size: number }>(
      this.#store.reader(),
      `select name, length(bytes) as size from gamedata_objects
        where left(name, ?) = ? and ${IS_OLD_ENOUGH} order by name`,
      [prefix.length, prefix],
    );
    return rows.map(({ name, size }) => ({ name, sizeBytes: size }));
  }

  /** Keeps objects that were stored again since they were listed. */
  async delete(name: string): Promise<void> {
    await this.#change(`delete from gamedata_objects where name = ? and ${IS_OLD_ENOUGH}`, [name]);
  }

  async #change(text: string, parameters: readonly (string | Uint8Array)[]): Promise<void> {
    await this.#store.transaction(
      async (tx) => {
        await this.#sql.run(tx, text, parameters);
      },
      { isolation: 'read_committed' },
    );
  }
}
