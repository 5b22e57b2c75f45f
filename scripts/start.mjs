#!/usr/bin/env node
// npm start [-- flags of `plinth serve`]: installs, builds and serves on 127.0.0.1:8181 from .data/
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { cli, root } from './lib/root.mjs';

await ensureBuiltOrExit({ toRun: true });
const given = process.argv.slice(2);
const hasDataDir =
  given.some((flag) => /^--data-dir(=|$)/.test(flag)) || process.env.PLINTH_DATA_DIR !== undefined;
const flags = hasDataDir ? given : ['--data-dir', path.join(root, '.data'), ...given];

// Runs the server in this process, so that it receives signals and terminal input directly.
process.argv = [process.execPath, cli, 'serve', ...flags];
await import(pathToFileURL(cli).href);
