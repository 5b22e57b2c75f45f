import fs from 'node:fs';
import path from 'node:path';
import { root } from './root.mjs';

/** Maximum number of files per process. Larger packages use several processes, so that two processors are busy. */
const MAX_FILES = 48;
/** Matches the compiled unit tests of a package. */
const OF_PACKAGE = /^packages\/([^/]+)\/dist\//;
/** Marks a test file that needs its own process. The reason follows the marker. */
const ALONE = /^\/\/ Own process: \S/m;
/** Matches top-level hooks. They would run for the tests of all files in the process. */
const HOOKS_OF_ALL = /^(?:beforeEach|afterEach)\(/m;

/**
 * Replaces the unit test files of each package by generated entries that import them. The files of an entry share a process, because
 * starting a process takes longer than running most of them.
 * @param folder where the entries are written.
 * @returns the files to run, largest groups first.
 */
export function groupUnitTests(files, folder) {
  const groups = new Map();
  const others = [];
  for (const file of files) {
    const name = OF_PACKAGE.exec(file)?.[1];
    if (name === undefined || isAlone(file)) others.push(file);
    else groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  const entries = [...groups]
    .flatMap(([name, own]) => partsOf(own).map((part, index) => ({ name, index, part })))
    .sort((a, b) => b.part.length - a.part.length)
    .map(({ name, index, part }) =>
      part.length === 1 ? part[0] : writeEntry(folder, `${name}-${index}`, part),
    );
  return [...entries, ...others];
}

function partsOf(files) {
  const count = Math.ceil(files.length / MAX_FILES);
  const size = Math.ceil(files.length / count);
  return Array.from({ length: count }, (_, i) => files.slice(i * size, (i + 1) * size));
}

function isAlone(file) {
  const source = path.join(root, file.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
  const text = fs.readFileSync(source, 'utf8');
  return ALONE.test(text) || HOOKS_OF_ALL.test(text);
}

/** Fails if the tests of a group change shared state. `tslib` defines globals with two underscores when a library loads it. */
const CHECK = `
import assert from 'node:assert/strict';
import { after } from 'node:test';
const state = () => ({ env: { ...process.env }, cwd: process.cwd(), globals: Object.keys(globalThis).filter((name) => !name.startsWith('__')).sort() });
const before = state();
after(() => assert.deepEqual(state(), before, 'a test in this process changed state that its tests share'));
`;

function writeEntry(folder, name, files) {
  const entry = path.join(folder, `${name}.mjs`);
  const imports = files.map((file) => `await import(${JSON.stringify(path.join(root, file))});`);
  fs.writeFileSync(entry, `${CHECK}${imports.join('\n')}\n`);
  return entry;
}
