// Source: docs/CONTAINERS.md, "Build the image".
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPTS = fileURLToPath(new URL('../../../scripts', import.meta.url));
const PRINT =
  "console.log(JSON.stringify((await import('./scripts/release/version.mjs')).readRelease()))";

it('a source tree without .git has the commit and the date that the build passes', async () => {
  const root = await mkdtemp(join(tmpdir(), 'plinth-tree-'));
  try {
    await cp(SCRIPTS, join(root, 'scripts'), { recursive: true });
    await writeFile(join(root, 'package.json'), '{"version":"1.2.3","type":"module"}');
    const read = async (variables: Readonly<Record<string, string>>) => {
      const args = ['--input-type=module', '-e', PRINT];
      // Git must not find a repository above the folder.
      const env = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir(), ...variables };
      return JSON.parse((await run(process.execPath, args, { cwd: root, env })).stdout);
    };
    const PLINTH_COMMIT = '0123456789abcdef0123456789abcdef01234567';
    assert.deepEqual(await read({ PLINTH_COMMIT, SOURCE_DATE_EPOCH: '86400' }), {
      version: '1.2.3',
      commit: '0123456789ab',
      built: '1970-01-02',
      builtSec: 86_400,
    });
    const none = await read({ PLINTH_COMMIT: '', SOURCE_DATE_EPOCH: '' });
    assert.equal(none.commit, 'unknown');
    await assert.rejects(read({ PLINTH_COMMIT: 'main' }), /invalid PLINTH_COMMIT "main"/);
  } finally {
    await rm(root, { recursive: true });
  }
});
