#!/usr/bin/env node
// Checks that imports point down only (docs/ARCHITECTURE.md, "Layers"). Part of `npm run lint`.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './lib/root.mjs';

/** What a folder of a service may reach besides itself, its own root files and the kernel. */
const BELOW = {
  routes: ['domain', 'model'],
  domain: ['storage', 'model'],
  storage: ['model'],
  model: [],
};
/** Which packages a package may import. */
const PACKAGES = {
  kernel: [],
  identity: ['kernel'],
  tsdb: ['kernel'],
  server: ['kernel', 'identity', 'tsdb'],
};

const problems = Object.keys(PACKAGES).flatMap((name) => {
  const src = path.join(root, 'packages', name, 'src');
  return listSources(src).flatMap((file) => checkFile(name, src, file));
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function checkFile(name, src, file) {
  const own = layerOf(src, file);
  return importsOf(file).flatMap((target) => {
    const sibling = /^@plinth\/([^/]+)/.exec(target)?.[1];
    if (sibling !== undefined && !PACKAGES[name].includes(sibling)) return [say(file, target)];
    if (!target.startsWith('.') || !(own in BELOW)) return [];
    const layer = layerOf(src, path.resolve(path.dirname(file), target));
    const isAllowed = layer === own || !(layer in BELOW) || BELOW[own].includes(layer);
    return isAllowed ? [] : [say(file, target)];
  });
}

function say(file, target) {
  return `${path.relative(root, file)}: must not import ${target}`;
}

function layerOf(src, file) {
  return path.relative(src, file).split(path.sep)[0];
}

function importsOf(file) {
  const found = fs.readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}).*?from '([^']+)';/gm);
  return [...found].map(([, target]) => target);
}

/** Tests may look across: a model test can use the engine as its second opinion. */
function listSources(folder) {
  return fs
    .readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$/.test(file))
    .map((file) => path.join(folder, file));
}
