// Source: CONTRIBUTING.md, "Style".
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../scripts/sizes.mjs', import.meta.url));

/** Returns the warnings for a package with these files. */
function warningsOf(files: Readonly<Record<string, number>>): string {
  const top = mkdtempSync(join(tmpdir(), 'plinth-sizes-'));
  try {
    for (const [name, lineCount] of Object.entries(files)) {
      const path = join(top, 'packages', 'a', 'src', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '\n'.repeat(lineCount));
    }
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, top], { encoding: 'utf8' });
    assert.equal(status, 0);
    return stderr.trimEnd();
  } finally {
    rmSync(top, { recursive: true });
  }
}

const files = (folder: string, count: number, ending = '.ts') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${folder}/f${i}${ending}`, 1]));

it('warns of source files of more than 400 lines', () => {
  assert.equal(warningsOf({ 'index.ts': 400 }), '');
  assert.equal(
    warningsOf({ 'b/c.ts': 401 }),
    'warning: packages/a/src/b/c.ts: 401 lines, at most 400',
  );
});

it('warns of folders of more than 20 source files', () => {
  assert.equal(warningsOf(files('b', 20)), '');
  assert.equal(warningsOf(files('b', 21)), 'warning: packages/a/src/b: 21 files, at most 20');
});

it('ignores tests', () => {
  assert.equal(
    warningsOf({ 'a.test.ts': 900, ...files('b', 15), ...files('b', 15, '.test.ts') }),
    '',
  );
});
