import fs from 'node:fs';
import path from 'node:path';
import { root } from './root.mjs';

/** Files of one process: a package with more has several, so that two processors have work. */
const MAX_FILES = 48;
/** Unit tests of a package: compiled beside its sources. */
const OF_PACKAGE = /^packages\/([^/]+)\/dist\//;
/** In the source of a test file that needs a process of its own; the reason stands behind it. */
const ALONE = /^\/\/ Own process: \S/m;
/** Outside of `describe`, they would run for the tests of every file of the process. */
const HOOKS_OF_ALL = /^(?:beforeEach|afterEach)\(/m;

/**
 * Replaces the unit test files of each package by generated entries that import them, so that they share a process: starting
 * one takes longer than most of them run.
 * @param folder where the entries are written.
 * @returns what to run, the largest groups first.
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

/** Fails when the tests of a group leave something that the next ones would see. */
const CHECK = `
import assert from 'node:assert/strict';
import { after } from 'node:test';
const state = () => ({ env: { ...process.env }, cwd: process.cwd(), globals: Object.keys(globalThis).sort() });
const before = state();
after(() => assert.deepEqual(state(), before, 'a test of this process changed what its tests share'));
`;

function writeEntry(folder, name, files) {
  const entry = path.join(folder, `${name}.mjs`);
  const imports = files.map((file) => `await import(${JSON.stringify(path.join(root, file))});`);
  fs.writeFileSync(entry, `${CHECK}${imports.join('\n')}\n`);
  return entry;
}
