import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../lib/root.mjs';

/**
 * What is released: the version of the tag (`v1.2.3`) on this commit; without one, that of package.json as a version before it that
 * counts commits.
 */
export function readRelease() {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const commit = git('rev-parse', '--short=12', 'HEAD');
  const builtSec = buildSec();
  const built = new Date(builtSec * 1000).toISOString().slice(0, 10);
  if (commit === undefined) return { version, commit: 'unknown', built, builtSec };
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

/** Of the commit, so that the same commit makes the same release. Source: https://reproducible-builds.org/specs/source-date-epoch/ */
function buildSec() {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined && !/^\d{1,12}$/.test(given)) {
    throw new Error(`SOURCE_DATE_EPOCH "${given}" is not a number of seconds since 1970`);
  }
  return Number(given ?? git('log', '-1', '--format=%ct') ?? Math.floor(Date.now() / 1000));
}

/** `undefined`: no git, no repository, or nothing to say. */
function git(...args) {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', args, options).trim();
  } catch {
    return undefined;
  }
}
