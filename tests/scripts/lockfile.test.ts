// Source: CONTRIBUTING.md, "Packages".
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../scripts/lockfile.mjs', import.meta.url));
const INTEGRITY = `sha512-${'A'.repeat(86)}==`;

/** Returns the output of the check; empty without findings. */
function check(...args: string[]): string {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });
  assert.equal(status, stderr === '' ? 0 : 1);
  return stderr.trimEnd();
}

function checkEntry(place: string, entry: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-lock-file-'));
  try {
    const path = join(folder, 'package-lock.json');
    writeFileSync(path, JSON.stringify({ packages: { '': { name: 'x' }, [place]: entry } }));
    return check(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('is content with the lock file of this repository', () => {
  assert.equal(check(), '');
});

it('refuses a package that nothing is compared with', () => {
  const none = 'node_modules/a: has no integrity; run node scripts/lockfile.mjs --write';
  assert.equal(checkEntry('node_modules/a', { version: '1.0.0' }), none);
  assert.match(
    checkEntry('node_modules/a', { version: '1.0.0', integrity: 'sha1-AAAA' }),
    /has a weak integrity \(sha1-AAAA\)/,
  );
  const nested = 'node_modules/b/node_modules/@s/a';
  assert.match(checkEntry(nested, { version: '1.0.0' }), /^node_modules\/b\/.*has no integrity/);
  assert.match(
    checkEntry('node_modules/@biomejs/cli-darwin-x64', { version: '9.9.9', optional: true }),
    /has no integrity/,
  );
});

it('refuses a package that names its registry', () => {
  const resolved = 'https://registry.example/a.tgz';
  assert.equal(
    checkEntry('node_modules/a', { version: '1.0.0', integrity: INTEGRITY, resolved }),
    'node_modules/a: names its registry; remove "resolved"',
  );
});

it('takes a locked package, and one of this repository', () => {
  assert.equal(checkEntry('node_modules/a', { version: '1.0.0', integrity: INTEGRITY }), '');
  const own = { resolved: 'packages/kernel', link: true };
  assert.equal(checkEntry('node_modules/@plinth/kernel', own), '');
});
