import { readFileSync, statSync } from 'node:fs';

/** The stamp next to the bundle, written by `scripts/lib/bundle.mjs`: compiled files relative to this one, with their state. */
interface BundleStamp {
  readonly inputs: readonly (readonly [file: string, sizeBytes: number, mtimeMs: number])[];
}

/**
 * Returns the folder of the bundled program, which starts in half the time of the two thousand modules. `undefined`
 * without a bundle, or if it is older than the compiled files.
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
    return undefined; // Without a complete bundle, the program runs from its modules.
  }
}

function readStamp(file: URL): BundleStamp {
  return JSON.parse(readFileSync(file, 'utf8'));
}
