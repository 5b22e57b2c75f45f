#!/usr/bin/env node
// sizes.mjs [folder]   warns of source folders with more than 20 files and source files with more than 400 lines; tests do not count.
// Part of `npm run check`, which it never fails: whether a file should be split depends on its content.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './lib/root.mjs';

const MAX_FILE_COUNT = 20;
const MAX_LINE_COUNT = 400;
/** Files without a limit, each with its reason. */
const EXCEPTIONS = new Set([
  'packages/gamedata-client/src/schema.ts', // written by `npm run openapi`
]);

const top = process.argv[2] ?? root;
const problems = [];
for (const name of fs.readdirSync(path.join(top, 'packages'))) {
  checkFolder(path.join('packages', name, 'src'));
}
for (const problem of problems) console.error(`warning: ${problem}`);

function checkFolder(folder) {
  const entries = fs.readdirSync(path.join(top, folder), { withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile() && isSource(entry.name));
  if (sources.length > MAX_FILE_COUNT) {
    problems.push(`${folder}: ${sources.length} files, at most ${MAX_FILE_COUNT}`);
  }
  for (const { name } of sources) checkFile(path.join(folder, name));
  for (const entry of entries) if (entry.isDirectory()) checkFolder(path.join(folder, entry.name));
}

function checkFile(file) {
  if (EXCEPTIONS.has(file.split(path.sep).join('/'))) return;
  const lineCount = fs.readFileSync(path.join(top, file), 'utf8').split('\n').length - 1;
  if (lineCount > MAX_LINE_COUNT) {
    problems.push(`${file}: ${lineCount} lines, at most ${MAX_LINE_COUNT}`);
  }
}

function isSource(name) {
  return /\.(?:c?ts|tsx)$/.test(name) && !/\.test\.ts$/.test(name);
}
