import { objectError, RawStatements, type RelationalStore, SHARED_NOW_MS } from '@plinth/kernel';
import { LINES_FOLDER, type LineObjects } from './group-store.js';

/**
 * What is stored is named by a manifest in a later transaction. Far longer than it takes from the one to the other, so
 * that no node removes what another is about to name.
 */
const SETTLED_MS = 3_600_000;
const IS_SETTLED = `put_ms < ${SHARED_NOW_MS} - ${SETTLED_MS}`;

/** Of what a change was about to name, another node has removed something. */
export class ObjectsGone extends Error {
  override readonly name = 'ObjectsGone';
  readonly kind = 'objects_gone';
  constructor(count: number) {
    super(`${count} objects of the game data have been removed since they were put`);
  }
}

/**
 * What a transaction names counts as put just now: a name may be known from an attempt that failed long ago. In PostgreSQL
 * alone, within the transaction. Throws `ObjectsGone`.
 */
export async function renewObjects(tx: unknown, plainNames: readonly string[]): Promise<void> {
  const names = [...new Set(plainNames)].map((name) => `${LINES_FOLDER}/${name}`);
  const raw = new RawStatements('postgresql');
  const renewed = await raw.run(
    tx,
    `update gamedata_objects set put_ms = ${SHARED_NOW_MS} where ${raw.isOneOf('name')}`,
    [JSON.stringify(names)],
  );
  if (renewed < names.length) throw new ObjectsGone(names.length - renewed);
}

/** Objects in the PostgreSQL database that nodes share. */
export class RelationalObjects implements LineObjects {
  readonly #store: RelationalStore;
  readonly #sql: RawStatements;

  constructor(store: RelationalStore) {
    this.#store = store;
    this.#sql = new RawStatements(store.engine);
  }

  /** What is there under the name is the same, or damaged; it counts as put just now, because somebody is about to name it. */
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

  /** Which of these names nothing is stored under. */
  async missing(names: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#sql.all<{ readonly name: string }>(
      this.#store.reader(),
      `select name from gamedata_objects where ${this.#sql.isOneOf('name')}`,
      [JSON.stringify(names)],
    );
    const found = new Set(rows.map(({ name }) => name));
    return names.filter((name) => !found.has(name));
  }

  /** Those that nobody can be about to name. */
  async list(prefix: string): Promise<readonly { name: string; sizeBytes: number }[]> {
    const rows = await this.#sql.all<{ readonly name: string; readonly size: number }>(
      this.#store.reader(),
      `select name, length(bytes) as size from gamedata_objects
        where left(name, ?) = ? and ${IS_SETTLED} order by name`,
      [prefix.length, prefix],
    );
    return rows.map(({ name, size }) => ({ name, sizeBytes: size }));
  }

  /** What was put again since it was listed stays. */
  async delete(name: string): Promise<void> {
    await this.#change(`delete from gamedata_objects where name = ? and ${IS_SETTLED}`, [name]);
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
