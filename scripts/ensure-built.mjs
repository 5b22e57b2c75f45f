#!/usr/bin/env node
// Makes a checkout runnable: packages as the lock file says, then dist/ as the sources say.
// Nothing to do costs about a tenth of a second; two of these at once take turns.
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
 * @param toRun only what a server needs, and its types are not looked at: the tests, `npm run build` and editors do that.
 */
export async function ensureBuilt({ toRun = false } = {}) {
  checkNode();
  await withLock(path.join(root, '.build.lock'), 'installing and building', async () => {
    if (!isInstalled()) await install();
    if (!fs.existsSync(bundleFolder)) {
      console.error('plinth: compiling for the first time, which takes 10 to 30 s ...');
    }
    // None is left running behind a failure of the other.
    const results = await Promise.allSettled([compileAndBundle(toRun), buildConsole()]);
    for (const { status, reason } of results) if (status === 'rejected') throw reason;
  });
}

async function compileAndBundle(toRun) {
  await compile(toRun ? [path.join('packages', 'server'), '--noCheck'] : []);
  linkCli();
  const startMs = performance.now();
  // Imported here: before the installation there is no bundler.
  const { bundle } = await import('./lib/bundle.mjs');
  await bundle();
  printLong('bundled', startMs);
}

/** Says what failed in one line and ends with exit code 1; stack traces are for bugs. */
export async function ensureBuiltOrExit(options) {
  try {
    await ensureBuilt(options);
  } catch (error) {
    console.error(`plinth: ${error.message}`);
    process.exit(1);
  }
}

/** @param {readonly string[]} words further ones for the compiler. */
async function compile(words) {
  const startMs = performance.now();
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const slow = setTimeout(() => console.error('plinth: compiling (tsc -b) ...'), SHORT_MS);
  const code = await runNode([compiler, '-b', ...words]);
  clearTimeout(slow);
  if (code !== 0) {
    throw new Error('the sources do not compile; the messages of the compiler stand above');
  }
  printLong('compiled', startMs);
}

/** What took no time is not worth a line. */
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
    `Node ${MIN_NODE.join('.')} or newer is needed, this is ${process.versions.node}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureBuiltOrExit();
