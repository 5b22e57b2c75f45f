import fs from 'node:fs';
import { cli } from './root.mjs';

/** Links the command under its earlier name, `dist/cli.js`. If Windows does not allow the link, `cli.cjs` still works. */
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
