import { isUtf8 } from 'node:buffer';
import { readdirSync, type Stats, statSync } from 'node:fs';
import { chmod, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, normalize, relative, resolve, sep } from 'node:path';
import type { FileSystem, Random } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PluginCode } from '@plinth/tsdb-model/plugins/plugin-host.js';
import { makeFolderForOthers } from '../python/folder-for-others.js';
import { refuseName } from './plugin-file-name.js';

const INIT = '__init__.py';
/** Maximum number of files listed per plugin. */
const MAX_LISTED_FILES = 1000;
/** Maximum size of a file that is returned to editors. */
const MAX_READ_BYTES = 1024 * 1024;
/** Maximum length of a file name. File systems allow 255 bytes, and temporary names are longer. */
const MAX_NAME_BYTES = 200;
/** Error codes if a file would replace a folder, or a folder a file. */
const NAME_TAKEN: ReadonlySet<string> = new Set(['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY']);

export interface PluginFile {
  /** Name below the plugin: the file's own name, or its path in the plugin's folder. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/**
 * The folder of user plugins. No file outside of it is read or written. Source: processing-engine,
 * "Plugin files".
 */
export class PluginFolder {
  readonly root: string;
  readonly #files: FileSystem;
  readonly #random: Random;
  readonly #environment: string | undefined;
  readonly #isForOthers: boolean;
  readonly #onObstacle: (why: string) => void;
  #isObstacleReported = false;
  #lastChange: Promise<unknown> = Promise.resolve();

  /**
   * @param options.root the setting, relative to the working directory of the process.
   * @param options.environment the environment of installed packages; nothing is written there.
   * @param options.isForOthers whether other users must be able to read the files.
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

  /**
   * Creates the folder if it is missing. Returns the reason if it cannot be used; the first time,
   * `onObstacle` is called as well.
   */
  async obstacle(): Promise<string | undefined> {
    try {
      await this.#makeFolder(this.root);
      await readdir(this.root);
      return undefined;
    } catch (error) {
      const { message } = error as Error; // a system error
      const why = `plugin folder ${this.root} cannot be created or read (${message}): give the user of the server access to it, or set tsdb.plugin_dir to another folder`;
      if (!this.#isObstacleReported) this.#onObstacle(why);
      this.#isObstacleReported = true;
      return why;
    }
  }

  /**
   * Locates the code of a plugin. Throws `plugin_path_escapes`, `plugin_file_missing`,
   * `plugin_folder_incomplete`.
   */
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

  /**
   * Reads a file. For a plugin that is a folder, this is its `__init__.py`, and `files` lists the
   * paths of all its Python files. Names that uploads must not use are refused as well. Throws
   * `plugin_file_missing`, `plugin_folder_incomplete`, `plugin_path_escapes`, `plugin_file_refused`.
   */
  async read(
    name: string,
  ): Promise<{ readonly content: string; readonly files: readonly string[] }> {
    const code = await this.find(name);
    refuseName(name);
    if (code.kind === 'source') return { content: '', files: [] }; // Only fetched plugins have this kind.
    const isFolder = code.kind === 'dir';
    const path = isFolder ? join(code.path, INIT) : code.path;
    const [root, real] = await Promise.all([resolvedOf(this.root), resolvedOf(path)]);
    refuseName(relative(root, real)); // a link may lead to a refused name
    const content = await this.#readText(path, name);
    return { content, files: isFolder ? this.list(name).map((file) => join(name, file.name)) : [] };
  }

  async #readText(path: string, name: string): Promise<string> {
    const file = await this.#files.open(path, 'r').catch((error) => {
      throw unreadable(name, error);
    });
    try {
      const sizeBytes = await file.sizeBytes();
      if (sizeBytes > MAX_READ_BYTES) {
        throw tsdbError(
          'plugin_file_refused',
          `${name} has ${sizeBytes} bytes; at most ${MAX_READ_BYTES} can be read`,
        );
      }
      const bytes = Buffer.alloc(sizeBytes);
      const readBytes = await file.read(bytes, 0);
      const text = bytes.subarray(0, readBytes);
      if (isUtf8(text)) return text.toString();
      throw tsdbError('plugin_file_refused', `${name} is not UTF-8 text and cannot be edited here`);
    } finally {
      await file.close();
    }
  }

  /** Creates or replaces a file. For a plugin that is a folder, this is its `__init__.py`. */
  async write(name: string, content: string | Uint8Array): Promise<void> {
    await this.#change(async () => {
      const path = await this.#writablePathOf(name, { replaces: false });
      await this.#putBack(path);
      const isFolder = (await this.#files.stat(path))?.isDirectory ?? false;
      if (name.endsWith('/') && !isFolder)
        throw tsdbError('plugin_file_refused', `${name} is not a folder; omit the / at the end`);
      await this.#put(isFolder ? join(path, INIT) : path, content);
    });
  }

  /** Replaces a complete folder, or leaves everything unchanged. */
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
    // Other triggers may run the file, and Python prefers a folder of the same name.
    const stat = await this.#files.stat(path);
    if (stat !== undefined && !stat.isDirectory) {
      throw tsdbError('plugin_file_refused', `${name} is a single-file plugin, not a directory`);
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
   * Undoes the replacement of this folder, or of one above it, if a crash interrupted it between
   * its two renames. Only then do both temporary names exist and the folder itself does not. A
   * `.old` folder of a user without `.tmp` is ignored.
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
   * Lists the files of a plugin: the file itself, or every `.py` below its folder. Returns an empty
   * list for a missing plugin. Reads the disk synchronously, so it is only for operator requests.
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

  /** Resolves a path below the folder, which may be absolute. Throws `plugin_path_escapes`. */
  async pathOf(name: string): Promise<string> {
    for (const root of name.startsWith(sep) ? [this.root, await resolvedOf(this.root)] : []) {
      if (name.startsWith(root + sep)) return await this.#pathOf(name.slice(root.length + 1));
    }
    return await this.#pathOf(name);
  }

  /** Resolves links of a system path. Returns the result if it is in this folder. */
  async realPathWithin(path: string): Promise<string | undefined> {
    const [real, root] = await Promise.all([
      realpath(path).catch(() => undefined),
      resolvedOf(this.root),
    ]);
    return real !== undefined && isAtOrBelow(real, root) ? real : undefined;
  }

  /**
   * Resolves a path for an upload. It must not contain a name that `refuseName` refuses, nor refer
   * to the environment, either directly or through links. Throws `plugin_path_escapes`,
   * `plugin_file_refused`.
   * @param replaces true if the complete folder with its content is replaced.
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
      throw tsdbError(
        'plugin_file_refused',
        `${name} refers to the plugin folder itself; use the name of a file in it`,
      );
    if (this.#environment === undefined) return path;
    const environment = await resolvedOf(this.#environment);
    // An environment that contains the plugins is not protected.
    const isApart = environment !== root && isAtOrBelow(environment, root);
    if (
      isApart &&
      (isAtOrBelow(real, environment) || (replaces && isAtOrBelow(environment, real)))
    ) {
      const relation = isAtOrBelow(real, environment) ? 'is inside' : 'contains';
      throw tsdbError(
        'plugin_file_refused',
        `${name} ${relation} the Python virtual environment, which uploads cannot change; use another path`,
      );
    }
    return path;
  }

  async #makeFolder(path: string): Promise<void> {
    if (this.#isForOthers) await makeFolderForOthers(this.#files, path);
    else await this.#files.makeDirectory(path);
  }

  /** Refuses links out of the folder: the longest existing part of the path is resolved. */
  async #pathOf(name: string): Promise<string> {
    const path = below(this.root, name);
    const [root, real] = await Promise.all([resolvedOf(this.root), resolvedOf(path)]);
    if (!isAtOrBelow(real, root)) throw tsdbError('plugin_path_escapes', { path: name });
    return path;
  }

  /** Serializes changes, because two replacements of a folder share its temporary names. */
  async #change(act: () => Promise<void>): Promise<void> {
    const changing = this.#lastChange.then(act);
    this.#lastChange = changing.catch(() => undefined); // The caller receives the failure; the next change runs regardless.
    await changing;
  }

  async #put(path: string, content: string | Uint8Array): Promise<void> {
    try {
      await this.#putFile(path, content);
    } catch (error) {
      if (!NAME_TAKEN.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      throw tsdbError(
        'plugin_file_refused',
        `${basename(path)} conflicts with an existing file or folder; use another name`,
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
      `a name in the path is longer than ${MAX_NAME_BYTES} bytes; use a shorter name`,
    );
  }
  return resolve(folder, normalize(name));
}

/**
 * Converts a failure to open a file if the file is missing or the server's user cannot read it;
 * returns other failures unchanged.
 */
function unreadable(name: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT') return tsdbError('plugin_file_missing', { path: name });
  if (error.code !== 'EACCES' && error.code !== 'EPERM') return error;
  const text = `${name} cannot be read; give the user of the server read access`;
  return tsdbError('plugin_file_refused', text, error);
}

const isAtOrBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder + sep);

/** Returns `undefined` for a missing file or a symbolic link loop. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return undefined;
    throw error;
  }
}

/** Names of the new and the previous folder during a replacement. */
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

/** Resolves links in the existing part of the path. */
async function resolvedOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') {
      throw tsdbError(
        'plugin_file_refused',
        `${basename(path)} is part of a symbolic link loop`,
        error,
      );
    }
    const parent = dirname(path);
    return parent === path ? path : join(await resolvedOf(parent), basename(path));
  }
}
