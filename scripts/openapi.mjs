#!/usr/bin/env node
// Writes docs/api/tsdb.json (OpenAPI 3.1) from the declared schemas; with --check only says whether it is current.
// Needs a build (`npm run build`).
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/root.mjs';

const server = path.join(root, 'packages', 'server', 'dist', 'index.js');
const page = path.join(root, 'docs', 'api', 'tsdb.json');
const { describeTimeSeriesApi } = await import(pathToFileURL(server).href);
const text = `${JSON.stringify(describeTimeSeriesApi(), null, 2)}\n`;
if (!process.argv.includes('--check')) {
  fs.mkdirSync(path.dirname(page), { recursive: true });
  fs.writeFileSync(page, text);
} else if (!fs.existsSync(page) || fs.readFileSync(page, 'utf8') !== text) {
  console.error('docs/api/tsdb.json is not current; run `npm run openapi`');
  process.exitCode = 1;
}
