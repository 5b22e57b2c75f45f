// Source: docs/RELEASING.md, "Reproducible files": two clones of one commit build identical files. The clones have no packages, so this
// also tests a release from a fresh clone.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../harness/temporary-folder.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;
const MINUTES_MS = 60_000;

/** Conditions that must not matter: folder, time, permissions, time zone and language. */
const SURROUNDINGS = [
  { folder: 'a', umask: '022', env: { TZ: 'UTC', LC_ALL: 'C' } },
  { folder: 'another/and-longer', umask: '077', env: { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' } },
];

it('two fresh clones of one commit build identical files', {
  timeout: 30 * MINUTES_MS,
}, async (context) => {
  const top = await temporaryFolder();
  const checksums: string[] = [];
  for (const { folder, umask, env } of SURROUNDINGS) {
    const [clone, out] = [join(top, folder, 'clone'), join(top, folder, 'out')];
    await mkdir(join(top, folder), { recursive: true });
    const release = `umask ${umask}; git clone --quiet "$0" "$1"; cd "$1"; npm run --silent release -- --out "$2"`;
    try {
      await run('bash', ['-ec', release, ROOT, clone, out], {
        env: { ...process.env, ...env },
        maxBuffer: 1 << 26,
      });
    } catch (error) {
      const { stderr = '' } = error as { readonly stderr?: string };
      if (!NO_REGISTRY.test(stderr)) throw error;
      return void (context as TestContext).skip('no package registry');
    }
    checksums.push(await readFile(join(out, 'SHA256SUMS'), 'utf8'));
    await rm(clone, { recursive: true });
  }
  const [first = '', second] = checksums;
  assert.match(first, /^[0-9a-f]{64} {2}plinth-.*-linux-\w+\.tar\.gz$/m);
  assert.equal(second, first);
});
