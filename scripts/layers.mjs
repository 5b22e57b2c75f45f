#!/usr/bin/env node
// layers.mjs [folder]   checks that imports point down only (docs/ARCHITECTURE.md, "Layers"); part of `npm run lint`.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './lib/root.mjs';

/** Folders that each folder may import, besides itself, the root files of its package and the kernel. */
const BELOW = {
  routes: ['domain', 'model'],
  domain: ['storage', 'model'],
  storage: ['model'],
  model: [],
  // Folders of the console and its core.
  pages: ['components'],
  components: [],
  api: ['worker', 'lib'],
  worker: ['lib'],
  lib: [],
};
/** Packages that each package may import, or single modules of a package. */
const PACKAGES = {
  kernel: [],
  'line-protocol': [],
  identity: ['kernel'],
  'tsdb-model': ['kernel'],
  'tsdb-ingest': ['kernel', 'tsdb-model'],
  'tsdb-catalog': ['kernel', 'tsdb-model'],
  'tsdb-storage': ['kernel', 'tsdb-model'],
  'tsdb-sql': ['kernel', 'tsdb-model'],
  'tsdb-influxql': ['kernel', 'line-protocol', 'tsdb-model', 'tsdb-catalog', 'tsdb-sql'],
  'tsdb-engine': ['kernel', 'tsdb-model', 'tsdb-ingest', 'tsdb-catalog', 'tsdb-storage'],
  'tsdb-plugins': ['kernel', 'tsdb-model', 'tsdb-ingest', 'tsdb-catalog', 'tsdb-engine'],
  'tsdb-open-tables': ['kernel', 'tsdb-model', 'tsdb-catalog', 'tsdb-storage', 'tsdb-engine'],
  'tsdb-caches': [
    'kernel',
    'tsdb-model',
    'tsdb-catalog',
    'tsdb-storage',
    'tsdb-sql',
    'tsdb-engine',
  ],
  'tsdb-live-queries': ['kernel', 'tsdb-model', 'tsdb-engine', 'tsdb-caches'],
  tsdb: [
    'kernel',
    'line-protocol',
    'tsdb-model',
    'tsdb-ingest',
    'tsdb-catalog',
    'tsdb-storage',
    'tsdb-sql',
    'tsdb-influxql',
    'tsdb-engine',
    'tsdb-plugins',
    'tsdb-open-tables',
    'tsdb-caches',
    'tsdb-live-queries',
  ],
  accounts: ['kernel'],
  webhooks: ['kernel'],
  ratelimit: ['kernel'],
  gamedata: ['kernel'],
  'gamedata-client': [],
  'console-core': ['kernel/cron', 'kernel/event-stream', 'line-protocol'],
  console: ['console-core', 'line-protocol'],
  server: ['kernel', 'identity', 'tsdb', 'accounts', 'webhooks', 'ratelimit', 'gamedata'],
  cli: ['kernel', 'line-protocol', 'identity', 'tsdb', 'gamedata', 'server'],
};

/**
 * Exports that other packages may import: the public API, and in tests also the test helpers. `exports` in the
 * package.json of `server` and of the parts of a service selects modules.
 */
const PUBLIC =
  /^@plinth\/(?:[^/]+(?:\/testing)?|kernel\/(?:cron|event-stream)|(?:tsdb-[\w-]+|console-core|server)\/.+)$/;
/** Layer of a package that is a part of a service; all others contain decisions. */
const LAYER_OF_PART = { 'tsdb-model': 'model', 'tsdb-storage': 'storage' };

const top = process.argv[2] ?? root;
const folders = fs.readdirSync(path.join(top, 'packages'));
const problems = folders.flatMap((name) => {
  const src = path.join(top, 'packages', name, 'src');
  if (!(name in PACKAGES)) return [`packages/${name}: missing in PACKAGES of scripts/layers.mjs`];
  return listSources(src).flatMap((file) => checkFile(name, src, file));
});
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function checkFile(name, src, file) {
  const own = layerOf(src, file);
  return importsOf(file).flatMap((target) => {
    const sibling = /^@plinth\/([^/]+)/.exec(target)?.[1];
    if (sibling !== undefined) {
      const isAllowed =
        PACKAGES[name].includes(target.slice('@plinth/'.length)) ||
        (PACKAGES[name].includes(sibling) &&
          PUBLIC.test(target) &&
          mayReach(own, partLayer(sibling)));
      return isAllowed ? [] : [report(file, target)];
    }
    if (!target.startsWith('.')) return [];
    const reached = path.resolve(path.dirname(file), target);
    if (!reached.startsWith(src + path.sep)) return [report(file, target)];
    return mayReach(own, layerOf(src, reached)) ? [] : [report(file, target)];
  });
}

function mayReach(own, layer) {
  return !(own in BELOW) || !(layer in BELOW) || layer === own || BELOW[own].includes(layer);
}

/** Returns `undefined` for packages that all layers may import. */
function partLayer(name) {
  return name.startsWith('tsdb-') ? (LAYER_OF_PART[name] ?? 'domain') : undefined;
}

function report(file, target) {
  return `${path.relative(top, file)}: must not import ${target}`;
}

function layerOf(src, file) {
  return path.relative(src, file).split(path.sep)[0];
}

/** Matches static, dynamic and side-effect imports and re-exports, in the format of the formatter. */
function importsOf(file) {
  const text = fs.readFileSync(file, 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export|\}).*?from '([^']+)'/gm),
    ...text.matchAll(/\bimport\('([^']+)'\)/g),
    ...text.matchAll(/^import '([^']+)'/gm),
  ];
  return found.map(([, target]) => target);
}

/** Tests may import other layers. For example, a test of the model may compare results with DuckDB. */
function listSources(folder) {
  return fs
    .readdirSync(folder, { recursive: true })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$/.test(file))
    .map((file) => path.join(folder, file));
}
