import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { readText } from './built-files.mjs';
import { root } from './root.mjs';
import { run } from './run.mjs';

const lockFile = path.join(root, 'package-lock.json');
const modules = path.join(root, 'node_modules');
const stampFile = path.join(modules, '.plinth-stamp');

/** Returns whether `node_modules` contains the packages of the lock file for this platform. */
export function isInstalled() {
  if (!fs.existsSync(path.join(modules, '.package-lock.json'))) return false;
  const stamp = readText(stampFile);
  if (stamp !== undefined) return stamp === wantedStamp();
  // Without a stamp, npm was run by hand. Then npm's own record of the installation decides.
  if (!isSameTree()) return false;
  fs.writeFileSync(stampFile, wantedStamp());
  return true;
}

/** Installs exactly the lock file, including development packages such as the compiler. */
export async function install() {
  console.error(
    'plinth: installing packages (npm ci), needed after each change of package-lock.json ...',
  );
  const startMs = performance.now();
  const code = await runNpm([
    'ci',
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--update-notifier=false',
  ]);
  if (code !== 0) {
    throw new Error(
      [
        `npm ci failed with exit code ${code}; see its messages above.`,
        '  - Is the package registry reachable? Check with `npm ping`. Behind a proxy, run `npm config set proxy <url>`.',
        '  - Is the disk full, or node_modules owned by another user?',
        '  Fix the cause, then run the same command again.',
      ].join('\n'),
    );
  }
  fs.writeFileSync(stampFile, wantedStamp());
  console.error(`plinth: packages installed in ${seconds(startMs)} s`);
}

export function seconds(startMs) {
  return ((performance.now() - startMs) / 1000).toFixed(1);
}

function wantedStamp() {
  const hash = createHash('sha256').update(fs.readFileSync(lockFile)).digest('hex');
  return `${hash} ${process.platform} ${process.arch}\n`;
}

function isSameTree() {
  const wanted = JSON.parse(fs.readFileSync(lockFile, 'utf8')).packages;
  const found = JSON.parse(readText(path.join(modules, '.package-lock.json')) ?? '{}').packages;
  return Object.entries(wanted).every(([name, entry]) => {
    if (!name.includes('node_modules/')) return true; // the workspaces themselves
    const there = found?.[name];
    return there === undefined ? entry.optional === true : there.version === entry.version;
  });
}

/** Prefers the npm that started this script, because the npm on the PATH may not support this Node version. */
async function runNpm(args) {
  const own = process.env.npm_execpath;
  if (own?.endsWith('npm-cli.js')) return await run(process.execPath, [own, ...args]);
  try {
    return await run('npm', args, { shell: process.platform === 'win32' });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    throw new Error(
      'npm was not found on the PATH; install Node with npm from https://nodejs.org',
      {
        cause: error,
      },
    );
  }
}
