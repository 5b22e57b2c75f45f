import { createRequire } from 'node:module';
import { invariant } from '@plinth/kernel';

const requireData = createRequire(import.meta.url);
/** Folder `reference/` of the package, relative to `dist/domain/reference/`. */
const FOLDER = '../../../reference';
const VERSION = 1;

/**
 * Returns a table of `reference/`, loaded on first use, so that a server that never writes an
 * account does not parse it. Each file contains the version of its layout, so that an edited copy
 * with another layout is detected.
 */
export function referenceTable<T>(name: string): () => T {
  let table: T | undefined;
  return () => {
    if (table === undefined) {
      const data: unknown = requireData(`${FOLDER}/${name}.json`);
      invariant(isVersioned(data), `reference/${name}.json must have version ${VERSION}`);
      table = data as T; // a separate test checks the layout of each file
    }
    return table;
  };
}

function isVersioned(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'version' in data && data.version === VERSION;
}

/** Returns a function that creates its value on the first call. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
