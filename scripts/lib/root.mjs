import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Top folder of the repository. It does not depend on the working directory. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Compiled entry of the `plinth` command. */
export const cli = path.join(root, 'packages', 'cli', 'dist', 'cli.cjs');

/** Folder of the bundled program. */
export const bundleFolder = path.join(root, 'packages', 'cli', 'dist', 'bundle');
