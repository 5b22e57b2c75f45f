import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** A built file with its compressed variants. */
export interface BuiltFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
  /** Weak: shared by all variants. */
  readonly etag: string;
}

/** Letters, digits and characters of hashed names; excludes paths outside the folder. */
const NAME = /^(?:[\w-]+\/)*[\w@-]+(?:\.[\w-]+)+$/;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json; charset=utf-8',
  '.lp': 'text/plain; charset=utf-8',
};

/** The files of a build folder, read on the first request and then cached: a few megabytes in total. */
export class BuiltFiles {
  readonly #folder: string;
  readonly #files = new Map<string, Promise<BuiltFile | undefined>>();

  /** @param folder output folder of the build; it may be missing */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Finds a file; `undefined` if it does not exist. */
  find(name: string): Promise<BuiltFile | undefined> {
    if (!NAME.test(name) || TYPES[path.extname(name)] === undefined)
      return Promise.resolve(undefined);
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    const reading = read(path.join(this.#folder, name));
    this.#files.set(name, reading);
    // Unknown names are not cached, because their number has no bound.
    void reading.then((file) => file === undefined && this.#files.delete(name));
    return reading;
  }

  /** Returns a hash that changes with every build; `undefined` without a build. */
  async build(): Promise<string | undefined> {
    return (await this.find('index.html'))?.etag.slice(3, -1);
  }
}

async function read(file: string): Promise<BuiltFile | undefined> {
  const maybe = (ending: string): Promise<Buffer | undefined> =>
    readFile(file + ending).catch(() => undefined);
  const [plain, br, gzip] = await Promise.all([maybe(''), maybe('.br'), maybe('.gz')]);
  if (plain === undefined) return undefined;
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
  return { type, plain, br, gzip, etag: `W/"${hash('sha256', plain).slice(0, 16)}"` };
}
