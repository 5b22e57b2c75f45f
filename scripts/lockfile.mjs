#!/usr/bin/env node
import { execFile } from 'node:child_process';
// lockfile.mjs [file]     checks that every package has a checksum and no registry, so that `npm ci` installs the same from any registry.
// lockfile.mjs --write    fetches missing checksums from the registry. Run it after an update of packages.
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from './lib/root.mjs';

/**
 * Binaries of other platforms that the registry lacked when the file was written. With a complete registry, `--write` adds their
 * checksums, and this list can go.
 */
const WITHOUT = [
  ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64', 'linux-arm64-musl'].map(biome),
  ...['linux-x64-musl', 'win32-arm64', 'win32-x64'].map(biome),
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-arm64-musl'].map(duckdb),
  ...['win32-arm64', 'win32-x64'].map(duckdb),
];
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;

const args = process.argv.slice(2);
const file = args.find((arg) => !arg.startsWith('--')) ?? path.join(root, 'package-lock.json');
const lock = JSON.parse(fs.readFileSync(file, 'utf8'));
if (args.includes('--write')) await fill();
const problems = Object.entries(lock.packages).flatMap(([place, entry]) => check(place, entry));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function check(place, { version, integrity, resolved, link }) {
  if (!place.includes('node_modules/') || link === true) return [];
  const name = nameOf(place);
  // A fixed URL would bypass the registry that the user has configured.
  const hosts = resolved === undefined ? [] : [`${place}: names its registry; remove "resolved"`];
  if (INTEGRITY.test(integrity ?? '') || WITHOUT.includes(`${name}@${version}`)) return hosts;
  const why = integrity === undefined ? 'has no integrity' : `has a weak integrity (${integrity})`;
  return [...hosts, `${place}: ${why}; run node scripts/lockfile.mjs --write`];
}

async function fill() {
  for (const [place, entry] of Object.entries(lock.packages)) {
    if (!place.includes('node_modules/') || entry.link === true) continue;
    const { version, resolved: _, integrity, ...rest } = entry;
    const found = INTEGRITY.test(integrity ?? '')
      ? integrity
      : await request(`${nameOf(place)}@${version}`);
    lock.packages[place] = { version, ...(found && { integrity: found }), ...rest };
  }
  fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

/** @returns `undefined` if the registry lacks the package. */
async function request(spec) {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', spec, 'dist.integrity']);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

function nameOf(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function biome(platform) {
  return `@biomejs/cli-${platform}@2.6.8`;
}

function duckdb(platform) {
  return `@duckdb/node-bindings-${platform}@1.5.6-r.1`;
}
