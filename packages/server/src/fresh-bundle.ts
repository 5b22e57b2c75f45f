import { readFileSync, statSync } from 'node:fs';

/** What `scripts/lib/bundle.mjs` writes beside the bundle: files of the compiler, relative to this one, as they were. */
interface BundleStamp {
  readonly inputs: readonly (readonly [file: string, sizeBytes: number, mtimeMs: number])[];
}

/**
 * The folder of the whole program in a few files, which start in half the time of two thousand; `undefined` when there
 * is none or when something was compiled after it was made.
 */
export function freshBundle(folder = new URL('./bundle/', import.meta.url)): URL | undefined {
  try {
    const stamp = readStamp(new URL('stamp.json', folder));
    const isFresh = stamp.inputs.every(([file, sizeBytes, mtimeMs]) => {
      const found = statSync(new URL(file, folder));
      return found.size === sizeBytes && found.mtimeMs === mtimeMs;
    });
    return isFresh ? folder : undefined;
  } catch {
    return undefined; // No bundle was made, or it is not whole: the modules themselves run as well.
  }
}

function readStamp(file: URL): BundleStamp {
  return JSON.parse(readFileSync(file, 'utf8'));
}
