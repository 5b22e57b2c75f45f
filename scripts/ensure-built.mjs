#!/usr/bin/env node
// Makes a checkout runnable: installs the packages of the lock file, then builds dist/. If both are current, this
// takes about 0.1 s. A lock file serializes concurrent runs.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './lib/console.mjs';
import { install, isInstalled, seconds } from './lib/install.mjs';
import { linkCli } from './lib/link-cli.mjs';
import { withLock } from './lib/lock.mjs';
import { bundleFolder, root } from './lib/root.mjs';
import { runNode } from './lib/run.mjs';

const MIN_NODE = [20, 19];
const SHORT_MS = 700;

/**
 * @param toRun builds only the files that a server needs, without a type check. Tests, `npm run build` and editors check types.
 */
export async function ensureBuilt({ toRun = false } = {}) {
  checkNode();
  await withLock(path.join(root, '.build.lock'), 'installing and building', async () => {
    if (!isInstalled()) await install();
    if (!fs.existsSync(bundleFolder)) {
      console.error('plinth: compiling for the first time, which takes 10 to 30 s ...');
    }
    // Both must end before the failure of one is thrown.
    const results = await Promise.allSettled([compileAndBundle(toRun), buildConsole()]);
    for (const { status, reason } of results) if (status === 'rejected') throw reason;
  });
}

async function compileAndBundle(toRun) {
  await compile(toRun ? [path.join('packages', 'cli'), '--noCheck'] : []);
  linkCli();
  const startMs = performance.now();
  // Imported here, because the bundler may not be installed earlier.
  const { bundle } = await import('./lib/bundle.mjs');
  await bundle();
  printLong('bundled', startMs);
}

/** Prints an expected failure as one line without a stack trace, and exits with code 1. */
export async function ensureBuiltOrExit(options) {
  try {
    await ensureBuilt(options);
  } catch (error) {
    console.error(`plinth: ${error.message}`);
    process.exit(1);
  }
}

/** @param {readonly string[]} words further arguments of the compiler. */
async function compile(words) {
  const startMs = performance.now();
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const slow = setTimeout(() => console.error('plinth: compiling (tsc -b) ...'), SHORT_MS);
  const code = await runNode([compiler, '-b', ...words]);
  clearTimeout(slow);
  if (code !== 0) {
    throw new Error('compilation failed; see the compiler messages above');
  }
  printLong('compiled', startMs);
}

/** Prints only steps that took a noticeable time. */
function printLong(done, startMs) {
  if (performance.now() - startMs > SHORT_MS) {
    console.error(`plinth: ${done} in ${seconds(startMs)} s`);
  }
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [minMajor, minMinor] = MIN_NODE;
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return;
  throw new Error(
    `unsupported Node version ${process.versions.node}; use ${MIN_NODE.join('.')} or newer`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureBuiltOrExit();
