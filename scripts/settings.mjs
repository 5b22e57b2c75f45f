#!/usr/bin/env node
// Writes docs/SETTINGS.md from the declared settings. With --check, only reports whether the page is current.
// Needs a build (`npm run build`).
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/root.mjs';

const server = path.join(root, 'packages', 'server', 'dist', 'index.js');
const page = path.join(root, 'docs', 'SETTINGS.md');
const { describeAllSettings } = await import(pathToFileURL(server).href);
if (!process.argv.includes('--check')) {
  fs.mkdirSync(path.dirname(page), { recursive: true });
  fs.writeFileSync(page, describeAllSettings());
} else if (!fs.existsSync(page) || fs.readFileSync(page, 'utf8') !== describeAllSettings()) {
  console.error('docs/SETTINGS.md is not current; run `node scripts/settings.mjs`');
  process.exitCode = 1;
}
