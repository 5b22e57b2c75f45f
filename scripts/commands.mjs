#!/usr/bin/env node
// Writes docs/COMMANDS.md from the commands of `plinth`. With --check, only reports whether the page is current.
// Needs a build (`npm run build`).
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/root.mjs';

// The defaults must not depend on the user who runs the script.
for (const name of Object.keys(process.env)) {
  if (/^(?:PLINTH|INFLUXDB3)_/.test(name)) delete process.env[name];
}
const module = path.join(root, 'packages', 'cli', 'dist', 'commands', 'describe-commands.js');
const page = path.join(root, 'docs', 'COMMANDS.md');
const { describeCommands } = await import(pathToFileURL(module).href);
const wanted = await describeCommands();
if (!process.argv.includes('--check')) {
  fs.writeFileSync(page, wanted);
} else if (!fs.existsSync(page) || fs.readFileSync(page, 'utf8') !== wanted) {
  console.error('docs/COMMANDS.md is not current; run `node scripts/commands.mjs`');
  process.exitCode = 1;
}
