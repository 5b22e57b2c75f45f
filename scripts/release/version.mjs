import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/**
 * Returns the version to release, from the tag (`v1.2.3`) on this commit. Without a tag, it is a pre-release of the version in
 * package.json, numbered by the commit count.
 */
export function readRelease() {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const commit = git('rev-parse', '--short=12', 'HEAD');
  const builtSec = buildSec();
  const built = new Date(builtSec * 1000).toISOString().slice(0, 10);
  if (commit === undefined) return { version, commit: givenCommit(), built, builtSec };
  const tag = /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(
    git('describe', '--tags', '--exact-match', '--match', 'v*') ?? '',
  )?.[1];
  const count = git('rev-list', '--count', 'HEAD');
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  return {
    version: tag ?? `${version}-dev.${count}`,
    commit: isChanged ? `${commit}-changed` : commit,
    built,
    builtSec,
  };
}

/** Commit of a source tree without `.git`, as in the build of the container. */
function givenCommit() {
  const given = process.env['PLINTH_COMMIT'] ?? '';
  if (given === '') return 'unknown';
  if (/^[0-9a-f]{7,64}$/.test(given)) return given.slice(0, 12);
  throw new Error(`invalid PLINTH_COMMIT "${given}"; use the output of \`git rev-parse HEAD\``);
}

/**
 * Time of the commit, so that the same commit builds the same release. Source:
 * https://reproducible-builds.org/specs/source-date-epoch/
 */
function buildSec() {
  const given = process.env['SOURCE_DATE_EPOCH'] || undefined;
  if (given !== undefined && !/^\d{1,12}$/.test(given)) {
    throw new Error(`invalid SOURCE_DATE_EPOCH "${given}"; use a number of seconds since 1970`);
  }
  return Number(given ?? git('log', '-1', '--format=%ct') ?? Math.floor(Date.now() / 1000));
}

/** @returns `undefined` without git, without a repository, or if the output is empty. */
function git(...args) {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', args, options).trim();
  } catch {
    return undefined;
  }
}
