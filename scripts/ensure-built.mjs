#!/usr/bin/env node
// Makes a checkout runnable: packages as the lock file says, then dist/ as the sources say.
// Nothing to do costs about a tenth of a second; two of these at once take turns.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './lib/console.mjs';
import { install, isInstalled, seconds } from './lib/install.mjs';
import { linkCli } from './lib/link-cli.mjs';
import { withLock } from './lib/lock.mjs';
import { root } from './lib/root.mjs';
import { runNode } from './lib/run.mjs';

const MIN_NODE = [20, 19];

export async function ensureBuilt() {
  checkNode();
  await withLock(path.join(root, '.build.lock'), 'installing and building', async () => {
    if (!isInstalled()) await install();
    await build();
    linkCli();
    // Imported here: before the installation there is no bundler.
    const { bundle } = await import('./lib/bundle.mjs');
    await bundle();
    await buildConsole();
  });
}

/** Says what failed in one line and ends with exit code 1; stack traces are for bugs. */
export async function ensureBuiltOrExit() {
  try {
    await ensureBuilt();
  } catch (error) {
    console.error(`plinth: ${error.message}`);
    process.exit(1);
  }
}

async function build() {
  const startMs = performance.now();
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const slow = setTimeout(() => console.error('plinth: compiling (tsc -b) ...'), 700);
  const code = await runNode([compiler, '-b']);
  clearTimeout(slow);
  if (code !== 0) {
    throw new Error('the sources do not compile; the messages of the compiler stand above');
  }
  if (performance.now() - startMs > 700) {
    console.error(`plinth: compiled in ${seconds(startMs)} s`);
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
