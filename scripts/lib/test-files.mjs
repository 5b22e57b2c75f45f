import fs from 'node:fs';
import path from 'node:path';
import { root } from './root.mjs';

/**
 * Lists compiled test files from the sources, so that files left in dist/ by a deleted test do not run.
 * Selects the files whose path contains any of the words.
 * @returns sorted paths relative to the repository, with `*.long.test.*` only if `withLong` is set.
 */
export function listTestFiles({ words, withLong }) {
  return sourceFolders()
    .flatMap(({ folder, compiled }) =>
      filesBelow(folder)
        .filter((file) => file.endsWith('.test.ts'))
        .map((file) => ({
          source: path.relative(root, path.join(folder, file)),
          compiled: path.relative(root, path.join(compiled, file.replace(/\.ts$/, '.js'))),
        })),
    )
    .filter(({ source }) => withLong || !source.endsWith('.long.test.ts'))
    .filter(({ source }) => words.length === 0 || words.some((word) => source.includes(word)))
    .map(({ compiled }) => compiled)
    .sort();
}

function sourceFolders() {
  const packages = fs
    .readdirSync(path.join(root, 'packages'))
    .map((name) => path.join(root, 'packages', name));
  const whole = [...packages.map((folder) => path.join(folder, 'test')), path.join(root, 'tests')];
  return [
    ...packages.map((folder) => ({
      folder: path.join(folder, 'src'),
      compiled: path.join(folder, 'dist'),
    })),
    ...whole.map((folder) => ({ folder, compiled: path.join(folder, 'dist') })),
  ].filter(({ folder }) => fs.existsSync(folder));
}

function filesBelow(folder, prefix = '') {
  return fs
    .readdirSync(path.join(folder, prefix), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist')
    .flatMap((entry) => {
      const name = path.join(prefix, entry.name);
      return entry.isDirectory() ? filesBelow(folder, name) : [name];
    });
}
