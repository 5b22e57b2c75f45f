import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { asOutage, gunzipBounded, messageOf, type ObjectStore, objectError } from '@plinth/kernel';

/** Content of an object: the lines of a row group, or the changes of a version. */
export interface StoredLines {
  readonly head: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

export interface LinesToStore {
  readonly head: Readonly<Record<string, unknown>>;
  readonly lines: readonly (readonly Uint8Array[])[];
}

/**
 * Object storage: the data folder of the node, or the shared database. `list` omits objects that
 * another node may be about to use.
 */
export type LineObjects = Pick<ObjectStore, 'put' | 'get' | 'delete' | 'list'>;

/** The bytes of an object do not match its name or format. */
export class ObjectDamaged extends Error {
  override readonly name = 'ObjectDamaged';
  readonly kind = 'object_damaged';
  readonly object: string;
  constructor(object: string, why: string) {
    super(`object ${object} is corrupt: ${why}`);
    this.object = object;
  }
}

const FORMAT = 'plinth-gamedata-lines/1';
export const LINES_FOLDER = 'gamedata/lines';
/** A group has at most 1024 records of 256 KiB; lists of changes are shorter. */
const MAX_SIZE_BYTES = 512 * 1024 * 1024;

const gzipInPool = promisify(gzip);

/**
 * Immutable gzip objects named after the SHA-256 of their content, so that versions share equal
 * rows. Format: docs/formats/gamedata.md.
 */
export class GroupStore {
  readonly #objects: LineObjects;
  #freezeCount = 0;

  constructor(objects: LineObjects) {
    this.#objects = objects;
  }

  /**
   * @param lines each in parts, without line breaks.
   * @returns the name; the object is durable when the promise resolves.
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

  /** Replaces an existing object that has become corrupt. */
  async #mend(name: string, packed: Uint8Array): Promise<void> {
    if (await this.isWhole(name)) return;
    await this.#objects.delete(`${LINES_FOLDER}/${name}`);
    await this.#objects.put(`${LINES_FOLDER}/${name}`, [packed]);
  }

  /** Whether an object exists and is intact. */
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
    if (`${found}.gz` !== name) throw new ObjectDamaged(name, `checksum mismatch, got ${found}`);
    const [first = '', ...lines] = Buffer.from(bytes).toString().split('\n');
    const { format, count, ...head } = JSON.parse(first) as Record<string, unknown>;
    lines.pop();
    if (format !== FORMAT || count !== lines.length) {
      throw new ObjectDamaged(
        name,
        `unexpected format ${String(format)} or line count ${lines.length}`,
      );
    }
    return { head, lines };
  }

  /** Runs `work`. From its start until `release`, no object is removed. */
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

  /**
   * Removes objects that neither a version nor the draft uses; frozen ones are removed by a later
   * call.
   */
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
