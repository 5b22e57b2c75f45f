import { dirname, join, resolve } from 'node:path';
import type { Random } from '../clock/random.js';
import type { FileSystem } from '../fs/file-system.js';
import { objectError } from './object-errors.js';
import { checkObjectName } from './object-name.js';
import type { ByteRange, FolderObjectStore, ObjectInfo } from './object-store.js';

/** Not a valid object name, so it cannot collide with one. */
const TEMPORARY_FOLDER = '.incoming';

/** Objects as files in one folder. A name appears only when all its bytes are on stable storage. */
export class LocalObjectStore implements FolderObjectStore {
  readonly #fileSystem: FileSystem;
  readonly #root: string;
  readonly #random: Random;

  private constructor(fileSystem: FileSystem, root: string, random: Random) {
    this.#fileSystem = fileSystem;
    this.#root = root;
    this.#random = random;
  }

  /**
   * Removes unfinished objects of an earlier process. Only one process may use a folder.
   * @param options.readOnly changes nothing in the folder; nothing can be stored.
   */
  static async open(options: {
    readonly fileSystem: FileSystem;
    readonly root: string;
    readonly random: Random;
    readonly readOnly?: boolean;
  }): Promise<LocalObjectStore> {
    const { fileSystem, root, random, readOnly = false } = options;
    if (readOnly) return new LocalObjectStore(fileSystem, root, random);
    await fileSystem.removeTree(join(root, TEMPORARY_FOLDER));
    await fileSystem.makeDirectory(join(root, TEMPORARY_FOLDER));
    return new LocalObjectStore(fileSystem, root, random);
  }

  async put(name: string, parts: readonly Uint8Array[]): Promise<void> {
    const path = this.localPath(name);
    const temporary = join(this.#root, TEMPORARY_FOLDER, this.#random.uuidV4());
    try {
      const handle = await this.#fileSystem.open(temporary, 'wx');
      try {
        await handle.write(parts, 0);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await this.#publish(name, temporary, path);
    } finally {
      await this.#fileSystem.remove(temporary);
    }
  }

  async adopt(name: string, localPath: string): Promise<void> {
    const path = this.localPath(name);
    const handle = await this.#fileSystem.open(localPath, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    await this.#publish(name, localPath, path);
    await this.#fileSystem.remove(localPath);
  }

  async get(name: string, range?: ByteRange): Promise<Uint8Array<ArrayBuffer>> {
    if (range !== undefined)
      return (await this.getRanges(name, [range]))[0] as Uint8Array<ArrayBuffer>;
    const handle = await this.#open(name);
    try {
      const bytes = new Uint8Array(await handle.sizeBytes());
      return bytes.subarray(0, await handle.read(bytes, 0));
    } finally {
      await handle.close();
    }
  }

  async getRanges(
    name: string,
    ranges: readonly ByteRange[],
  ): Promise<readonly Uint8Array<ArrayBuffer>[]> {
    const handle = await this.#open(name);
    try {
      const read = async ({ start, end }: ByteRange): Promise<Uint8Array<ArrayBuffer>> => {
        const bytes = new Uint8Array(end - start);
        return bytes.subarray(0, await handle.read(bytes, start));
      };
      return await Promise.all(ranges.map(read));
    } finally {
      await handle.close();
    }
  }

  async list(prefix: string): Promise<readonly ObjectInfo[]> {
    const found: ObjectInfo[] = [];
    // Complete folders of the prefix are opened directly; the rest of the prefix filters the names.
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    if (folder !== '') checkObjectName(folder.slice(0, -1));
    await this.#collect(folder, prefix, found);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async delete(name: string): Promise<void> {
    const path = this.localPath(name);
    await this.#fileSystem.remove(path);
    const folder = dirname(path);
    if ((await this.#fileSystem.stat(folder)) !== undefined) {
      await this.#fileSystem.syncDirectory(folder);
    }
  }

  localPath(name: string): string {
    checkObjectName(name);
    return join(this.#root, name);
  }

  async #publish(name: string, from: string, path: string): Promise<void> {
    await this.#fileSystem.makeDirectory(dirname(path));
    try {
      await this.#fileSystem.link(from, path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw objectError('object_exists', name);
      throw error;
    }
    await this.#fileSystem.syncDirectory(dirname(path));
  }

  async #open(name: string) {
    try {
      return await this.#fileSystem.open(this.localPath(name), 'r');
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR')
        throw objectError('object_not_found', name);
      throw error;
    }
  }

  async #collect(folder: string, prefix: string, found: ObjectInfo[]): Promise<void> {
    for (const entry of await this.#fileSystem.list(resolve(this.#root, folder))) {
      const name = `${folder}${entry}`;
      if (entry.startsWith('.')) continue;
      if (!name.startsWith(prefix) && !prefix.startsWith(`${name}/`)) continue;
      const stat = await this.#fileSystem.stat(join(this.#root, name));
      if (stat === undefined) continue; // deleted in the meantime
      if (stat.isDirectory) await this.#collect(`${name}/`, prefix, found);
      else found.push({ name, sizeBytes: stat.sizeBytes });
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
