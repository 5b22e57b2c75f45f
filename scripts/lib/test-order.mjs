import path from 'node:path';

/**
 * Test files that take longer than half a minute. They start first, so that no core is idle at the end, and files that wait are
 * between files that compute. `npm run test:full -- --durations` prints the time and the CPU time of each file.
 */
const LONG_FILES = [
  ...['storage-simulation-1', 'webhooks/lost-leases', 'crash/damage', 'migrate/influxdb1'],
  ...['storage-simulation-2', 'crash/freed-disk', 'console/pages', 'tsdb/plugin-isolation'],
  ...[
    'storage-simulation-3',
    'server/live-stream',
    'crash/flipped-bytes',
    'gamedata/several-nodes',
  ],
  ...['answers/in-memory.prop', 'cli/shell-terminal', 'docs/pages', 'server/connection-limits'],
  ...['flush/failed-file-change', 'gamedata/nodes-that-go', 'server/route-walk', 'cli/serve-check'],
  ...['tsdb/slow-readers-of-a-token', 'tsdb/processing-runs', 'console/explore', 'crash/deletion'],
  ...[
    'tsdb/event-loop-delay',
    'release/installed',
    'console/documentation',
    'gamedata/nodes-at-odds',
  ],
  ...['deletion/deletion', 'crash/one-folder', 'console/write', 'accounts/two-nodes'],
  ...['tsdb/statements-that-take-memory', 'server/scheduled-backups', 'console/live'],
];

/**
 * Sorts test files: groups of unit tests in the given order, then the long files, then the others by name. By path, files that use
 * the same resource would run together (a browser, the processor, timers).
 */
export function inTestOrder(files) {
  const rank = (file) => {
    if (path.isAbsolute(file)) return -1;
    const index = LONG_FILES.findIndex((name) => file.endsWith(`${name}.test.js`));
    return index < 0 ? LONG_FILES.length : index;
  };
  const compare = (a, b) => (path.basename(a) < path.basename(b) ? -1 : 1);
  return files.toSorted(
    (a, b) => rank(a) - rank(b) || (rank(a) === LONG_FILES.length ? compare(a, b) : 0),
  );
}
