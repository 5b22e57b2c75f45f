#!/usr/bin/env node
// layers.mjs [folder]   checks that imports point down only (docs/ARCHITECTURE.md, "Layers"); part of `npm run lint`.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './lib/root.mjs';

/** What a folder may reach besides itself, the root files of its package and the kernel. */
const BELOW = {
  routes: ['domain', 'model'],
  domain: ['storage', 'model'],
  storage: ['model'],
  model: [],
  // The console's own.
  pages: ['components', 'api', 'lib'],
  components: ['api', 'lib'],
  api: ['worker', 'lib'],
  worker: ['lib'],
  lib: [],
};
/** Which packages a package may import. */
const PACKAGES = {
  kernel: [],
  'line-protocol': [],
  identity: ['kernel'],
  tsdb: ['kernel'],
  accounts: ['kernel'],
  webhooks: ['kernel'],
  ratelimit: ['kernel'],
  gamedata: ['kernel'],
  'gamedata-client': [],
  console: ['line-protocol'],
  server: [
    'kernel',
    'line-protocol',
    'identity',
    'tsdb',
    'accounts',
    'webhooks',
    'ratelimit',
    'gamedata',
  ],
};

/** What others may import of a package: its public surface, and from tests what it offers to tests. */
const PUBLIC = /^@plinth\/[^/]+(\/testing)?$/;

const top = process.argv[2] ?? root;
const folders = fs.readdirSync(path.join(top, 'packages'));
const problems = folders.flatMap((name) => {
  const src = path.join(top, 'packages', name, 'src');
  if (!(name in PACKAGES)) return [`packages/${name}: has no line in scripts/layers.mjs`];
  return listSources(src).flatMap((file) => checkFile(name, src, file));
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function checkFile(name, src, file) {
  const own = layerOf(src, file);
  return importsOf(file).flatMap((target) => {
    const sibling = /^@plinth\/([^/]+)/.exec(target)?.[1];
    if (sibling !== undefined) {
      const isAllowed = PACKAGES[name].includes(sibling) && PUBLIC.test(target);
      return isAllowed ? [] : [report(file, target)];
    }
    if (!target.startsWith('.')) return [];
    const reached = path.resolve(path.dirname(file), target);
    if (!reached.startsWith(src + path.sep)) return [report(file, target)];
    if (!(own in BELOW)) return [];
    const layer = layerOf(src, reached);
    const isAllowed = layer === own || !(layer in BELOW) || BELOW[own].includes(layer);
    return isAllowed ? [] : [report(file, target)];
  });
}

function report(file, target) {
  return `${path.relative(top, file)}: must not import ${target}`;
}

function layerOf(src, file) {
  return path.relative(src, file).split(path.sep)[0];
}

/** Static, dynamic and side-effect imports, re-exports; the formatter leaves no other spelling. */
function importsOf(file) {
  const text = fs.readFileSync(file, 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export|\}).*?from '([^']+)'/gm),
    ...text.matchAll(/\bimport\('([^']+)'\)/g),
    ...text.matchAll(/^import '([^']+)'/gm),
  ];
  return found.map(([, target]) => target);
}

/** Tests may look across: a model test can use the engine as its second opinion. */
function listSources(folder) {
  return fs
    .readdirSync(folder, { recursive: true })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$/.test(file))
    .map((file) => path.join(folder, file));
}
