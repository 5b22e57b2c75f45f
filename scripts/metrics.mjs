#!/usr/bin/env node
// Writes docs/METRICS.md from the metrics of a server with all services. With --check, only reports whether the page is current.
// Needs a build (`npm run build`).
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/root.mjs';

const server = path.join(root, 'packages', 'server', 'dist', 'index.js');
const page = path.join(root, 'docs', 'METRICS.md');
const { describeMetrics } = await import(pathToFileURL(server).href);
const wanted = await describeMetrics();
if (!process.argv.includes('--check')) {
  fs.writeFileSync(page, wanted);
} else if (!fs.existsSync(page) || fs.readFileSync(page, 'utf8') !== wanted) {
  console.error('docs/METRICS.md is not current; run `node scripts/metrics.mjs`');
  process.exitCode = 1;
}
