import { createRequire } from 'node:module';
import { invariant } from '@plinth/kernel';

const requireData = createRequire(import.meta.url);
/** Folder `reference/` of the package, seen from `dist/domain/reference/`. */
const FOLDER = '../../../reference';
const VERSION = 1;

/**
 * A table of `reference/`, read when it is first asked for: a server that never writes an account never
 * parses it. Each file carries the version of its layout, so that an edited copy of another layout stops here.
 */
export function referenceTable<T>(name: string): () => T {
  let table: T | undefined;
  return () => {
    if (table === undefined) {
      const data: unknown = requireData(`${FOLDER}/${name}.json`);
      invariant(isVersioned(data), `reference/${name}.json is not of version ${VERSION}`);
      table = data as T; // The layout of each file is checked by a test of its own.
    }
    return table;
  };
}

function isVersioned(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'version' in data && data.version === VERSION;
}

/** A value made once, on first use. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
