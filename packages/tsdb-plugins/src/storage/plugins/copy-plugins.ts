import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isPortable } from './plugin-file-name.js';

export interface CopiedPlugins {
  /** Names below the plugin folder, `/`-separated. The copies in `to` have the same names. */
  readonly names: readonly string[];
  /**
   * Names that are not copied: neither files nor folders, or names that other systems do not
   * accept.
   */
  readonly skipped: readonly string[];
}

/** Created again when the plugins run. */
const CACHE = '__pycache__';
/** Temporary name of an upload. */
const UNDER_WAY = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/**
 * Copies the content of the plugin folder, except links and the environment of installed packages.
 * @param from may be missing; then nothing is copied.
 */
export async function copyPlugins(
  from: string,
  to: string,
  environment: string,
): Promise<CopiedPlugins> {
  const names: string[] = [];
  const skipped: string[] = [];
  const copyFolder = async (below: string): Promise<void> => {
    const source = join(from, below);
    const entries = await readdir(source, { withFileTypes: true }).catch((error: unknown) => {
      if (Reflect.get(Object(error), 'code') === 'ENOENT') return [];
      throw error;
    });
    await mkdir(join(to, below), { recursive: true });
    for (const entry of entries) {
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      const path = join(from, name);
      if (entry.name === CACHE || UNDER_WAY.test(entry.name)) continue;
      if (resolve(path) === environment) continue;
      if (!isPortable(entry.name)) skipped.push(name);
      else if (entry.isDirectory()) await copyFolder(name);
      else if (!entry.isFile()) skipped.push(name);
      else {
        if (await copyUnlessGone(path, join(to, name))) names.push(name);
      }
    }
  };
  await copyFolder('');
  return { names, skipped };
}

/** Returns false if the file was deleted after its folder was listed. */
async function copyUnlessGone(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return false;
    throw error;
  }
}
