import { dirname } from 'node:path';
import type { Random } from '../clock/random.js';
import type { FileHandle, FileStat, FileSystem, OpenMode } from '../fs/file-system.js';
import type { SimFaults } from './sim-faults.js';
import { type SimDisk, SimFile, SimFileHandle, systemError } from './sim-file.js';

interface Folder {
  /** Names as the running system sees them. */
  readonly names: Map<string, SimFile>;
  /** Names as stored on the disk. */
  readonly synced: Map<string, SimFile>;
}

/**
 * An in-memory disk that simulates power failures. After `crash()`, it contains everything synced and a random part of the
 * rest: each unsynced write completely, in sectors, up to some byte, or not at all; each unsynced name or not. A write
 * through a `synced` handle is unsynced until it resolves. Handles opened before the crash are dead. Folders are durable
 * immediately, as `makeDirectory` promises.
 */
export class SimFileSystem implements FileSystem {
  readonly #random: Random;
  readonly #folders = new Map<string, Folder>([['/', { names: new Map(), synced: new Map() }]]);
  readonly #disk: SimDisk;
  #powerCycle = 0;

  constructor(random: Random, faults: SimFaults = {}) {
    this.#random = random;
    const happens = (probability = 0) => probability > 0 && random.float() < probability;
    this.#disk = {
      random,
      happens,
      faults,
      powerCycle: () => this.#powerCycle,
      freeBytes: () =>
        (this.#disk.faults.capacityBytes ?? Number.POSITIVE_INFINITY) - this.#usedBytes(),
    };
  }

  set faults(faults: SimFaults) {
    this.#disk.faults = faults;
  }

  /** Simulates a power failure and a restart. */
  crash(): void {
    this.#powerCycle += 1;
    for (const folder of this.#folders.values()) this.#forgetNames(folder);
    const files = new Set<SimFile>();
    for (const { names } of this.#folders.values())
      for (const file of names.values()) files.add(file);
    for (const file of files) file.crash(this.#random);
  }

  async open(
    path: string,
    mode: OpenMode,
    writes: 'buffered' | 'synced' = 'buffered',
  ): Promise<FileHandle> {
    const folder = this.#folderOf(path);
    const known = folder.names.get(path);
    if (known === undefined && this.#folders.has(path)) throw systemError('EISDIR', path);
    if (mode === 'wx' && known !== undefined) throw systemError('EEXIST', path);
    if ((mode === 'r' || mode === 'r+') && known === undefined) throw systemError('ENOENT', path);
    const file = known ?? new SimFile();
    folder.names.set(path, file);
    const isWritable = mode !== 'r';
    const isSynced = writes === 'synced';
    const handle = new SimFileHandle({ file, path, disk: this.#disk, isWritable, isSynced });
    if (mode === 'w') await handle.truncate(0);
    return handle;
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#find(from);
    this.#folderOf(to).names.set(to, file);
    if (from !== to) this.#folderOf(from).names.delete(from);
  }

  async link(existing: string, name: string): Promise<void> {
    const file = this.#find(existing);
    const folder = this.#folderOf(name);
    if (folder.names.has(name) || this.#folders.has(name)) throw systemError('EEXIST', name);
    folder.names.set(name, file);
  }

  async remove(path: string): Promise<void> {
    this.#folders.get(dirname(path))?.names.delete(path);
  }

  async removeTree(path: string): Promise<void> {
    await this.remove(path);
    for (const folder of [...this.#folders.keys()]) {
      if (folder === path || folder.startsWith(`${path}/`)) this.#folders.delete(folder);
    }
  }

  async makeDirectory(path: string): Promise<void> {
    if (this.#folders.has(path)) return;
    const parent = dirname(path);
    await this.makeDirectory(parent);
    if (this.#folderOf(path).names.has(path)) throw systemError('EEXIST', path);
    this.#folders.set(path, { names: new Map(), synced: new Map() });
  }

  async list(path: string): Promise<readonly string[]> {
    const prefix = path === '/' ? '/' : `${path}/`;
    const paths = [...(this.#folders.get(path)?.names.keys() ?? [])];
    for (const folder of this.#folders.keys()) {
      if (folder !== '/' && dirname(folder) === path) paths.push(folder);
    }
    return paths.map((found) => found.slice(prefix.length)).sort();
  }

  async stat(path: string): Promise<FileStat | undefined> {
    if (this.#folders.has(path))
      return { sizeBytes: 0, isDirectory: true, modifiedMs: 0, mode: 0o700 };
    const file = this.#folders.get(dirname(path))?.names.get(path);
    if (file === undefined) return undefined;
    return { sizeBytes: file.bytes.byteLength, isDirectory: false, modifiedMs: 0, mode: 0o600 };
  }

  async syncDirectory(path: string): Promise<void> {
    const folder = this.#folders.get(path);
    if (folder === undefined) throw systemError('ENOENT', path);
    if (this.#disk.happens(this.#disk.faults.syncFails)) throw systemError('EIO', path);
    folder.synced.clear();
    for (const [name, file] of folder.names) folder.synced.set(name, file);
  }

  /** Each name change since the last sync of its folder may be lost, independently of all others. */
  #forgetNames(folder: Folder): void {
    for (const name of new Set([...folder.names.keys(), ...folder.synced.keys()])) {
      const before = folder.synced.get(name);
      if (folder.names.get(name) !== before && this.#random.float() < 0.5) {
        if (before === undefined) folder.names.delete(name);
        else folder.names.set(name, before);
      }
    }
    folder.synced.clear();
    for (const [name, file] of folder.names) folder.synced.set(name, file);
  }

  #find(path: string): SimFile {
    const file = this.#folderOf(path).names.get(path);
    if (file === undefined) throw systemError('ENOENT', path);
    return file;
  }

  #folderOf(path: string): Folder {
    const folder = this.#folders.get(dirname(path));
    if (folder === undefined) throw systemError('ENOENT', path);
    return folder;
  }

  #usedBytes(): number {
    const files = new Set<SimFile>();
    for (const { names } of this.#folders.values())
      for (const file of names.values()) files.add(file);
    let sum = 0;
    for (const file of files) sum += file.bytes.byteLength;
    return sum;
  }
}
