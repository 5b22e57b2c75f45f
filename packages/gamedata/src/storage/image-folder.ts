import { constants } from 'node:fs';
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Clock, type Logger, repeatJob } from '@plinth/kernel';
import type { ImageFile, Images } from '../model/images.js';

/** Scan interval for new files. A scan costs one call per folder if nothing has changed. */
const LOOK_MS = 10_000;
const MAX_FILES = 100_000;
const MAX_FOLDERS = 2000;
const MAX_DEPTH = 8;
/** A recently changed folder may change again without a new modification time. */
const MIN_AGE_MS = 3000;
const PIECE_BYTES = 65_536;

const TYPES: Readonly<Record<string, string>> = {
  '.webp': 'image/webp',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.avif': 'image/avif',
  '.svg': 'image/svg+xml',
};

interface Listed {
  readonly modifiedMs: number;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

/**
 * Image files provided by the operator. Only names found by the scan are served, so no path can
 * leave the folder.
 */
export class ImageFolder implements Images {
  readonly #deps: ImageFolderDeps;
  /** Listings by path below the folder; '' is the folder itself. */
  #listed = new Map<string, Listed>();
  #names: ReadonlySet<string> = new Set();
  #timer: Disposable | undefined;
  #hasWarned = false;

  constructor(deps: ImageFolderDeps) {
    this.#deps = deps;
  }

  /** Resolves after the first scan. Safe to call twice. */
  async start(): Promise<void> {
    await this.#readFolder();
    const { clock, log } = this.#deps;
    const job = { clock, log, name: 'scan for images', intervalMs: LOOK_MS };
    this.#timer ??= repeatJob(job, async () => {
      if (await this.#readFolder()) this.#deps.onChanged();
    });
  }

  close(): void {
    this.#timer?.[Symbol.dispose]();
  }

  get count(): number {
    return this.#names.size;
  }

  /** @param name path below the folder, for example `items/bandage.webp`. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  async find(name: string): Promise<ImageFile | undefined> {
    const type = typeOf(name);
    if (type === undefined || !this.has(name)) return undefined;
    const path = join(this.#deps.folder, name);
    try {
      const [real, root, status] = await Promise.all([
        realpath(path),
        realpath(this.#deps.folder),
        lstat(path),
      ]);
      if (real !== join(root, name) || !status.isFile()) return undefined;
      return { path, type, sizeBytes: status.size, modifiedMs: status.mtimeMs };
    } catch {
      return undefined; // removed since the last scan
    }
  }

  async *read(file: ImageFile): AsyncGenerator<Buffer, void, undefined> {
    const handle = await open(file.path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      for (let at = 0; at < file.sizeBytes; ) {
        const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, file.sizeBytes - at));
        const { bytesRead } = await handle.read(piece, 0, piece.length, at);
        if (bytesRead === 0) throw new Error(`${file.path} was truncated`);
        yield piece.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }

  /** @returns whether names have changed. */
  async #readFolder(): Promise<boolean> {
    const listed = new Map<string, Listed>();
    const names = new Set<string>();
    const waiting = [''];
    let isCut = false;
    for (const folder of waiting) {
      const found = await this.#list(folder);
      if (found === undefined) continue;
      listed.set(folder, found);
      const below = (name: string): string => (folder === '' ? name : `${folder}/${name}`);
      for (const file of found.files) {
        if (names.size < MAX_FILES) names.add(below(file));
        else isCut = true;
      }
      const isDeep = folder.split('/').length >= MAX_DEPTH;
      for (const inner of found.folders) {
        if (!isDeep && waiting.length < MAX_FOLDERS) waiting.push(below(inner));
        else isCut = true;
      }
    }
    if (isCut && !this.#hasWarned) {
      this.#hasWarned = true;
      const bounds = { maxFiles: MAX_FILES, maxFolders: MAX_FOLDERS, maxDepth: MAX_DEPTH };
      this.#deps.log.warn(bounds, 'some images are not served: the folder exceeds these limits');
    }
    const before = this.#names;
    this.#listed = listed;
    this.#names = names;
    return names.size !== before.size || [...names].some((name) => !before.has(name));
  }

  async #list(name: string): Promise<Listed | undefined> {
    const path = join(this.#deps.folder, name);
    try {
      // The folder itself may be a symbolic link, set up by the operator.
      const status = name === '' ? await stat(path) : await lstat(path);
      if (!status.isDirectory()) return undefined;
      const known = this.#listed.get(name);
      const modifiedMs = status.mtimeMs;
      const isOldEnough = this.#deps.clock.nowMs() - modifiedMs > MIN_AGE_MS;
      if (known?.modifiedMs === modifiedMs && isOldEnough) return known;
      const entries = (await readdir(path, { withFileTypes: true }))
        .filter((entry) => !entry.name.startsWith('.') && !entry.name.includes('\\'))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      const files = entries.filter((entry) => entry.isFile() && typeOf(entry.name) !== undefined);
      const folders = entries.filter((entry) => entry.isDirectory());
      return {
        modifiedMs,
        files: files.map((entry) => entry.name),
        folders: folders.map((entry) => entry.name),
      };
    } catch (err) {
      if (Reflect.get(Object(err), 'code') !== 'ENOENT')
        this.#deps.log.warn({ err, folder: path }, 'cannot read the image folder');
      return undefined;
    }
  }
}

interface ImageFolderDeps {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when images were added or removed. */
  readonly onChanged: () => void;
}

const typeOf = (name: string): string | undefined => TYPES[extname(name).toLowerCase()];
