import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { asOutage, gunzipBounded, messageOf, type ObjectStore, objectError } from '@plinth/kernel';

/** Lines of one row group, or the list of changes of a version, as they lie in the object store. */
export interface StoredLines {
  readonly head: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

export interface LinesToStore {
  readonly head: Readonly<Record<string, unknown>>;
  readonly lines: readonly (readonly Uint8Array[])[];
}

/**
 * Where the objects lie: in the data folder of the node, or in the database that nodes share. `list` leaves out those that
 * another node may be about to name.
 */
export type LineObjects = Pick<ObjectStore, 'put' | 'get' | 'delete' | 'list'>;

/** The bytes of an object are not those it is named after, or not in this format. */
export class ObjectDamaged extends Error {
  override readonly name = 'ObjectDamaged';
  readonly kind = 'object_damaged';
  readonly object: string;
  constructor(object: string, why: string) {
    super(`object ${object} is damaged: ${why}`);
    this.object = object;
  }
}

const FORMAT = 'plinth-gamedata-lines/1';
export const LINES_FOLDER = 'gamedata/lines';
/** A group has at most 1024 records of 256 KiB; a list of changes is shorter. */
const MAX_SIZE_BYTES = 512 * 1024 * 1024;

const gzipInPool = promisify(gzip);

/**
 * Immutable gzip objects named after the SHA-256 of what they hold: the same rows are stored once, however many
 * versions have them. Format: docs/formats/gamedata.md.
 */
export class GroupStore {
  readonly #objects: LineObjects;
  #freezeCount = 0;

  constructor(objects: LineObjects) {
    this.#objects = objects;
  }

  /**
   * @param lines each in pieces, none with a line break.
   * @returns the name; durable when it resolves.
   */
  async put({ head, lines }: LinesToStore): Promise<string> {
    const first = `${JSON.stringify({ format: FORMAT, ...head, count: lines.length })}\n`;
    const end = Buffer.from('\n');
    const bytes = Buffer.concat([Buffer.from(first), ...lines.flatMap((line) => [...line, end])]);
    const name = `${createHash('sha256').update(bytes).digest('hex')}.gz`;
    const packed = await gzipInPool(bytes, { level: 4 });
    try {
      await this.#objects.put(`${LINES_FOLDER}/${name}`, [packed]);
    } catch (error) {
      if (!objectError.is(error, 'object_exists')) throw error;
      await this.#mend(name, packed);
    }
    return name;
  }

  /** What is there under this name may have been damaged since it was stored. */
  async #mend(name: string, packed: Uint8Array): Promise<void> {
    if (await this.isWhole(name)) return;
    await this.#objects.delete(`${LINES_FOLDER}/${name}`);
    await this.#objects.put(`${LINES_FOLDER}/${name}`, [packed]);
  }

  /** False also where nothing is. */
  async isWhole(name: string): Promise<boolean> {
    try {
      await this.get(name);
      return true;
    } catch (error) {
      if (error instanceof ObjectDamaged) return false;
      throw error;
    }
  }

  /** @throws {ObjectDamaged} */
  async get(name: string): Promise<StoredLines> {
    let bytes: Uint8Array;
    try {
      bytes = await gunzipBounded(
        await this.#objects.get(`${LINES_FOLDER}/${name}`),
        MAX_SIZE_BYTES,
      );
    } catch (error) {
      if (asOutage(error) !== undefined) throw error;
      throw new ObjectDamaged(name, messageOf(error));
    }
    const found = createHash('sha256').update(bytes).digest('hex');
    if (`${found}.gz` !== name) throw new ObjectDamaged(name, `its checksum is ${found}`);
    const [first = '', ...lines] = Buffer.from(bytes).toString().split('\n');
    const { format, count, ...head } = JSON.parse(first) as Record<string, unknown>;
    lines.pop();
    if (format !== FORMAT || count !== lines.length) {
      throw new ObjectDamaged(name, `format ${String(format)}, ${lines.length} lines`);
    }
    return { head, lines };
  }

  /** Runs `work`; no object goes from its begin on until `release`. */
  async freeze(work: () => Promise<void>): Promise<{ release(): void }> {
    this.#freezeCount += 1;
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) this.#freezeCount -= 1;
      isReleased = true;
    };
    try {
      await work();
    } catch (error) {
      release();
      throw error;
    }
    return { release };
  }

  /** Removes what no version and no draft names; what is frozen goes with a later call. */
  async keepOnly(names: ReadonlySet<string>): Promise<number> {
    let removed = 0;
    for (const { name } of await this.#objects.list(`${LINES_FOLDER}/`)) {
      if (this.#freezeCount > 0) break;
      if (names.has(name.slice(LINES_FOLDER.length + 1))) continue;
      await this.#objects.delete(name);
      removed += 1;
    }
    return removed;
  }
}
