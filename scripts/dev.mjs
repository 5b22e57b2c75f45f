#!/usr/bin/env node
// npm run dev [-- flags of `plinth serve`]: compiles on change and restarts the server on .data/
import { spawn } from 'node:child_process';
import path from 'node:path';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { cli, root } from './lib/root.mjs';

await ensureBuiltOrExit();
const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const processes = [
  [compiler, '-b', '--watch', '--preserveWatchOutput'],
  [
    '--watch',
    '--watch-preserve-output',
    '--enable-source-maps',
    cli,
    'serve',
    '--data-dir',
    path.join(root, '.data'),
    ...process.argv.slice(2),
  ],
].map((args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }));

const stop = (signal) => {
  for (const child of processes) child.kill(signal);
};
process.on('SIGINT', stop).on('SIGTERM', stop);
for (const child of processes) child.once('exit', () => stop('SIGTERM'));
