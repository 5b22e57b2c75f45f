import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Top folder of the repository, whatever folder a script was started from. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Compiled entry of the `plinth` command. */
export const cli = path.join(root, 'packages', 'server', 'dist', 'cli.cjs');

/** What starts the program in fewer files than the compiler wrote. */
export const bundleFolder = path.join(root, 'packages', 'server', 'dist', 'bundle');
