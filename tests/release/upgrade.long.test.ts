// Source: docs/UPGRADE.md, "Support for older data folders": the packages of two commits, one after the other, over one data folder.
// Own process: earlier releases are started, and killed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ServerProcess, temporaryFolder } from '../harness/index.js';
import { check, FLAGS, fill } from './kept-data.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ENTRY = 'bin/plinth';
/** Number of commits to go back without an earlier release. */
const COMMITS_BACK = 100;
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;
const TEN_MINUTES_MS = 600_000;
/** Age after which the rows are certainly in files. */
const FLUSH_AGE_MS = 500;

/** Returns the last release before this commit, or an earlier commit; `undefined` without the history. */
async function earlierCommit(): Promise<string | undefined> {
  const named = process.env['PLINTH_TEST_EARLIER_COMMIT'];
  if (named !== undefined) return named;
  const git = async (...args: string[]): Promise<string | undefined> => {
    const done = await run('git', args, { cwd: ROOT }).catch(() => ({ stdout: '' }));
    return done.stdout.trim() || undefined;
  };
  return (
    (await git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^')) ??
    (await git('rev-list', '-1', `--skip=${COMMITS_BACK}`, 'HEAD'))
  );
}

/** Builds the npm package of a checkout. @returns its file */
async function packageOf(checkout: string, out: string): Promise<string> {
  await run('npm', ['run', '--silent', 'release', '--', '--no-archive', '--out', out], {
    cwd: checkout,
    maxBuffer: 1 << 26,
  });
  const name = (await readdir(out)).find((each) => /^plinth-\d.*\.tgz$/.test(each));
  assert.ok(name);
  return join(out, name);
}

const skip = (context: TestContext, why: string): void => context.skip(why);

it('a package installed over an earlier commit keeps all data, also when it is removed', {
  timeout: 4 * TEN_MINUTES_MS,
}, async (context) => {
  const commit = await earlierCommit();
  if (commit === undefined) return skip(context, 'no history: a clone of all commits is needed');
  const top = await temporaryFolder();
  const older = join(top, 'older');
  const home = join(top, 'home');
  for (const folder of [older, home]) await mkdir(folder);
  const archive = join(top, 'older.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', older]);
  if (!existsSync(join(older, 'scripts/release.mjs')))
    return skip(context, `commit ${commit} makes no package yet`);
  const packages: string[] = [];
  try {
    const install = ['ci', '--no-audit', '--no-fund', '--prefer-offline'];
    await run('npm', install, { cwd: older, maxBuffer: 1 << 26 });
    packages.push(await packageOf(older, join(top, 'old-out')));
    packages.push(await packageOf(ROOT, join(top, 'new-out')));
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string };
    if (NO_REGISTRY.test(stderr)) return skip(context, 'no package registry');
    throw error;
  }
  const [before = '', now = ''] = packages;
  const prefix = join(top, 'prefix');
  const npm = (...args: readonly string[]) =>
    run('npm', [...args, '--global', '--prefix', prefix, '--no-audit', '--no-fund'], {
      env: { ...process.env, HOME: home },
    });
  const dataDir = join(top, 'data');
  const start = (flags: readonly string[] = []) =>
    ServerProcess.start({ cli: join(prefix, ENTRY), dataDir, flags: [...FLAGS, ...flags] });

  await npm('install', before);
  const first = await start(['--tsdb-buffer-flush-age-ms', String(FLUSH_AGE_MS)]);
  const facts = await fill(first, () => sleep(6 * FLUSH_AGE_MS));
  await first.kill(); // The last acknowledged data is only in the commit log.
  const kept = process.env['PLINTH_TEST_KEPT_FOLDER'];
  if (kept !== undefined) {
    await writeFile(join(top, 'facts.json'), JSON.stringify(facts));
    await run('tar', ['-czf', kept, '-C', top, 'facts.json', 'data']);
  }

  await npm('install', now);
  for (const round of [1, 2]) {
    const server = await start();
    try {
      await check(server, facts, round);
    } finally {
      assert.equal(await server.stop(), 0);
    }
  }
  await npm('uninstall', 'plinth');
  assert.equal(existsSync(join(prefix, 'bin', 'plinth')), false);
  assert.equal(existsSync(join(prefix, 'lib/node_modules/plinth')), false);
  assert.equal(existsSync(join(dataDir, 'plinth.db')), true);
});
