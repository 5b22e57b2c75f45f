import fs from 'node:fs';
import { cli } from './root.mjs';

/** The command under the name that it has had for long: `dist/cli.js`. Windows may not allow the link; `cli.cjs` is the same. */
export function linkCli() {
  const link = cli.replace(/\.cjs$/, '.js');
  try {
    if (fs.lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return;
    fs.rmSync(link, { force: true });
    fs.symlinkSync('cli.cjs', link);
  } catch {
    fs.writeFileSync(link, "import './cli.cjs';\n");
  }
}
