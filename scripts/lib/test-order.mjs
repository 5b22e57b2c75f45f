import path from 'node:path';

/**
 * Test files that take longer than half a minute, longest first: they start first, so that no core is idle at the end. Paths as in
 * `main-wire-files.mjs`, or below `packages/`. `npm run test:full -- --durations` prints the time of each file.
 */
const LONG_FILES = [];

/**
 * Sorts test files: the long ones, then the others by name, not by folder. Files of one folder use the same resource (a browser, the
 * processor, timers), so files that wait run beside files that compute.
 */
export function inTestOrder(files) {
  const rank = (file) => {
    const index = LONG_FILES.findIndex((name) => file.endsWith(`${name}.test.js`));
    return index < 0 ? LONG_FILES.length : index;
  };
  const name = (file) => path.basename(file);
  return files.toSorted((a, b) => rank(a) - rank(b) || (name(a) < name(b) ? -1 : 1));
}
