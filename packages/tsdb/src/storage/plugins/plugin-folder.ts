import { readdirSync, type Stats, statSync } from 'node:fs';
import { chmod, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, normalize, relative, resolve, sep } from 'node:path';
import type { FileSystem, Random } from '@plinth/kernel';
import { tsdbError } from '../../errors.js';
import type { PluginCode } from '../../model/plugins/plugin-host.js';
import { makeFolderForOthers } from '../python/folder-for-others.js';
import { refuseName } from './plugin-file-name.js';

const INIT = '__init__.py';
/** A plugin with more files than this is not listed to its end. */
const MAX_LISTED_FILES = 1000;
/** File systems take 255, and a file is written under a longer name first. */
const MAX_NAME_BYTES = 200;
/** What file systems say when a file is to stand in the place of a folder, or a folder in that of a file. */
const NAME_TAKEN: ReadonlySet<string> = new Set(['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY']);

export interface PluginFile {
  /** Below the plugin: the file's own name, or its path in the plugin's folder. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** The folder that holds the users' plugins. Nothing outside of it is read or written. Source: processing-engine, "Plugin files". */
export class PluginFolder {
  readonly root: string;
  readonly #files: FileSystem;
  readonly #random: Random;
  readonly #environment: string | undefined;
  readonly #isForOthers: boolean;
  readonly #onObstacle: (why: string) => void;
  #isObstacleTold = false;
  #lastChange: Promise<unknown> = Promise.resolve();

  /**
   * @param options.root as set; relative to the working folder of the process.
   * @param options.environment where installed packages are; nothing is written there.
   * @param options.isForOthers whether other users have to be able to read what is written.
   */
  constructor(options: {
    readonly root: string;
    readonly files: FileSystem;
    readonly random: Random;
    readonly environment?: string;
    readonly isForOthers?: boolean;
    readonly onObstacle?: (why: string) => void;
  }) {
    this.root = resolve(options.root);
    this.#files = options.files;
    this.#random = options.random;
    this.#environment = options.environment && resolve(options.environment);
    this.#isForOthers = options.isForOthers ?? false;
    this.#onObstacle = options.onObstacle ?? (() => undefined);
  }

  /** Makes the folder when it is not there. Returns why it cannot be used, if so; the first time `onObstacle` hears of it, too. */
  async obstacle(): Promise<string | undefined> {
    try {
      await this.#makeFolder(this.root);
      await readdir(this.root);
      return undefined;
    } catch (error) {
      const { message } = error as Error; // the system says it
      const why = `plugin folder ${this.root} cannot be made or read (${message}): let the user of the server make and read it, or name another as tsdb.plugin_dir`;
      if (!this.#isObstacleTold) this.#onObstacle(why);
      this.#isObstacleTold = true;
      return why;
    }
  }

  /** Where the code of a plugin is. Throws `plugin_path_escapes`, `plugin_file_missing`, `plugin_folder_incomplete`. */
  async find(name: string): Promise<PluginCode> {
    const path = await this.#pathOf(name);
    let stat = await this.#files.stat(path);
    if (stat === undefined) {
      await this.#change(() => this.#putBack(path));
      stat = await this.#files.stat(path);
    }
    if (stat === undefined) throw tsdbError('plugin_file_missing', { path: name });
    if (!stat.isDirectory) return { kind: 'file', path };
    if ((await this.#files.stat(await this.#pathOf(join(name, INIT)))) === undefined) {
      throw tsdbError('plugin_folder_incomplete', { path: name });
    }
    return { kind: 'dir', path };
  }

  /** Creates or replaces one file; of a plugin that is a folder, its `__init__.py`. */
  async write(name: string, content: string | Uint8Array): Promise<void> {
    await this.#change(async () => {
      const path = await this.#writablePathOf(name, { replaces: false });
      await this.#putBack(path);
      const isFolder = (await this.#files.stat(path))?.isDirectory ?? false;
      if (name.endsWith('/') && !isFolder)
        throw tsdbError('plugin_file_refused', `${name} is no file name`);
      await this.#put(isFolder ? join(path, INIT) : path, content);
    });
  }

  /** Puts a whole folder in the place of another, or leaves everything as it was. */
  async replaceFolder(
    name: string,
    files: readonly { readonly path: string; readonly content: string }[],
  ): Promise<void> {
    await this.#change(() => this.#replaceFolder(name, files));
  }

  async #replaceFolder(
    name: string,
    files: readonly { readonly path: string; readonly content: string }[],
  ): Promise<void> {
    const path = await this.#writablePathOf(name, { replaces: true });
    for (const file of files) refuseName(file.path);
    if (path === this.root) throw tsdbError('plugin_path_escapes', { path: name });
    await this.#putBack(path);
    // Other triggers may run the file, and no folder of its name could be imported.
    const stat = await this.#files.stat(path);
    if (stat !== undefined && !stat.isDirectory) {
      throw tsdbError('plugin_file_refused', `${name} is a plugin of one file, not a directory`);
    }
    const { fresh, old } = besides(path);
    await this.#files.removeTree(fresh);
    try {
      for (const file of files) await this.#put(below(fresh, file.path), file.content);
      await this.#files.removeTree(old);
      const isThere = (await this.#files.stat(path)) !== undefined;
      if (isThere) await this.#files.rename(path, old);
      try {
        await this.#files.rename(fresh, path);
      } catch (error) {
        if (isThere) await this.#files.rename(old, path);
        throw error;
      }
      await this.#files.syncDirectory(dirname(path));
    } catch (error) {
      await this.#files.removeTree(fresh);
      throw error;
    }
    await this.#files.removeTree(old);
  }

  /**
   * Undoes the replacement of a folder, this one or one above it, that the end of the process left between its two
   * renames: only there are both names taken and the folder's own is free. A user's `.old` alone is left as it is.
   */
  async #putBack(path: string): Promise<void> {
    if (path === this.root) return;
    await this.#putBack(dirname(path));
    const { fresh, old } = besides(path);
    const [own, next, last] = await Promise.all(
      [path, fresh, old].map((each) => this.#files.stat(each)),
    );
    if (own !== undefined || !next?.isDirectory || !last?.isDirectory) return;
    await this.#files.rename(old, path);
    await this.#files.syncDirectory(dirname(path));
    await this.#files.removeTree(fresh);
  }

  /**
   * Files of a plugin: itself, or every `.py` below its folder. One that is gone has none. Waits for the disk: only for
   * people who look.
   */
  list(name: string): readonly PluginFile[] {
    const path = resolve(this.root, normalize(name));
    const stat = statOf(path);
    if (stat === undefined) return [];
    if (!stat.isDirectory()) return [fileOf(basename(path), path, stat)];
    const found: PluginFile[] = [];
    collectFiles(path, path, found);
    return found;
  }

  /** A file below the folder, whatever it is for; also one that is named from the root. Throws `plugin_path_escapes`. */
  async pathOf(name: string): Promise<string> {
    for (const root of name.startsWith(sep) ? [this.root, await resolvedOf(this.root)] : []) {
      if (name.startsWith(root + sep)) return await this.#pathOf(name.slice(root.length + 1));
    }
    return await this.#pathOf(name);
  }

  /** Where a path of the system leads, when that is a place in this folder. */
  async realPathWithin(path: string): Promise<string | undefined> {
    const [real, root] = await Promise.all([
      realpath(path).catch(() => undefined),
      resolvedOf(this.root),
    ]);
    return real !== undefined && isAtOrBelow(real, root) ? real : undefined;
  }

  /**
   * What an upload may write to: no name that `refuseName` refuses and nothing of the environment, as the path is
   * spelled and as links lead. Throws `plugin_path_escapes`, `plugin_file_refused`.
   * @param replaces the whole folder goes, and what is in it with it.
   */
  async #writablePathOf(
    name: string,
    { replaces }: { readonly replaces: boolean },
  ): Promise<string> {
    const path = await this.#pathOf(name);
    const [root, real] = await Promise.all([resolvedOf(this.root), resolvedOf(path)]);
    refuseName(name);
    refuseName(relative(root, real));
    if (real === root)
      throw tsdbError('plugin_file_refused', `${name}: it names the plugin folder itself`);
    if (this.#environment === undefined) return path;
    const environment = await resolvedOf(this.#environment);
    // One that holds the plugins is no place of its own.
    const isApart = environment !== root && isAtOrBelow(environment, root);
    if (
      isApart &&
      (isAtOrBelow(real, environment) || (replaces && isAtOrBelow(environment, real)))
    ) {
      throw tsdbError('plugin_file_refused', `${name} is where installed packages are`);
    }
    return path;
  }

  async #makeFolder(path: string): Promise<void> {
    if (this.#isForOthers) await makeFolderForOthers(this.#files, path);
    else await this.#files.makeDirectory(path);
  }

  /** Not through links either: the longest part that exists is looked up with them resolved. */
  async #pathOf(name: string): Promise<string> {
    const path = below(this.root, name);
    const [root, real] = await Promise.all([resolvedOf(this.root), resolvedOf(path)]);
    if (!isAtOrBelow(real, root)) throw tsdbError('plugin_path_escapes', { path: name });
    return path;
  }

  /** One after the other: two calls that replace a folder share its temporary names. */
  async #change(act: () => Promise<void>): Promise<void> {
    const changing = this.#lastChange.then(act);
    this.#lastChange = changing.catch(() => undefined); // The caller sees the failure; the next in line must not.
    await changing;
  }

  async #put(path: string, content: string | Uint8Array): Promise<void> {
    try {
      await this.#putFile(path, content);
    } catch (error) {
      if (!NAME_TAKEN.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      throw tsdbError(
        'plugin_file_refused',
        `${basename(path)} would be a file in the place of a folder, or below a file`,
        error,
      );
    }
  }

  async #putFile(path: string, content: string | Uint8Array): Promise<void> {
    const folder = dirname(path);
    await this.#makeFolder(folder);
    const temporary = `${path}.${this.#random.uuidV4()}.tmp`;
    const file = await this.#files.open(temporary, 'wx');
    try {
      await file.write([typeof content === 'string' ? Buffer.from(content) : content], 0);
      await file.sync();
      if (this.#isForOthers) await chmod(temporary, 0o644);
    } finally {
      await file.close();
    }
    await this.#files.rename(temporary, path);
    await this.#files.syncDirectory(folder);
  }
}

/** Throws `plugin_path_escapes`, `plugin_file_refused`. */
function below(folder: string, name: string): string {
  const parts = name.split(/[/\\]/);
  if (
    name === '' ||
    name.includes('\0') ||
    parts.includes('..') ||
    normalize(name).startsWith(sep)
  ) {
    throw tsdbError('plugin_path_escapes', { path: name });
  }
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) {
    throw tsdbError(
      'plugin_file_refused',
      `a part of the file's path is longer than ${MAX_NAME_BYTES} bytes`,
    );
  }
  return resolve(folder, normalize(name));
}

const isAtOrBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder + sep);

/** `undefined`: nothing is there, or links that lead round in a loop. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return undefined;
    throw error;
  }
}

/** Names a folder has while it is replaced: what comes, and what was there. */
function besides(path: string): { readonly fresh: string; readonly old: string } {
  return { fresh: `${path}.tmp`, old: `${path}.old` };
}

function fileOf(name: string, path: string, stat: Stats): PluginFile {
  return { name, path, sizeBytes: stat.size, modifiedMs: Math.floor(stat.mtimeMs) };
}

function collectFiles(top: string, folder: string, into: PluginFile[]): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (into.length >= MAX_LISTED_FILES) return;
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== '__pycache__') collectFiles(top, path, into);
    else if (entry.isFile() && entry.name.endsWith('.py')) {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat !== undefined) into.push(fileOf(relative(top, path), path, stat));
    }
  }
}

/** With links resolved, as far as the path exists. */
async function resolvedOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') {
      throw tsdbError('plugin_file_refused', `${basename(path)}: it is in a loop of links`, error);
    }
    const parent = dirname(path);
    return parent === path ? path : join(await resolvedOf(parent), basename(path));
  }
}
