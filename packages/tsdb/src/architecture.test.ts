import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { describe, it } from 'node:test';

const PACKAGE = join(import.meta.dirname, '..');
const PACKAGES = join(PACKAGE, '..');
/** A row of a table of folders, by its first cell: one folder, or several of a kind. */
const FOLDER = /^\| (`[^|]+`) \|/gm;

/** Includes tests. */
const MAX_FILES = 15;

const exportOf = (name: string): RegExp =>
  new RegExp(`^export (?:async )?(?:function\\*?|class|const|interface) ${name}\\b`, 'm');

/** The packages of the service. */
const packageNames = (await readdir(PACKAGES)).filter((name) => /^tsdb(?:-|$)/.test(name));

/** Number of files by folder, named as on the page. */
async function foldersWithSources(): Promise<Map<string, number>> {
  const folders = new Map<string, number>();
  for (const name of packageNames) {
    for (const top of ['src', 'test']) {
      const files = await readdir(join(PACKAGES, name, top), { recursive: true }).catch(() => []);
      for (const file of files) {
        if (!file.endsWith('.ts') || file.startsWith(`dist${sep}`)) continue;
        const path = join(name, top === 'src' ? '' : top, dirname(file)).replaceAll(sep, '/');
        folders.set(path, (folders.get(path) ?? 0) + 1);
      }
    }
  }
  return folders;
}

describe('ARCHITECTURE.md', async () => {
  const page = await readFile(join(PACKAGE, 'ARCHITECTURE.md'), 'utf8');
  const folders = await readFile(join(PACKAGE, 'FOLDERS.md'), 'utf8');

  it('FOLDERS.md has every folder with sources in one row, and no other folder', async () => {
    const cells = [...folders.matchAll(FOLDER)].map(([, cell = '']) => cell);
    const named = cells.flatMap((cell) => cell.slice(1, -1).split('`, `'));
    assert.deepEqual(named.sort(), [...(await foldersWithSources()).keys()].sort());
  });

  it('keeps folders small', async () => {
    for (const [folder, count] of await foldersWithSources())
      assert.ok(count <= MAX_FILES, `${folder} has ${count} files`);
  });

  it('names only exported classes', async () => {
    const names = new Set([...page.matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => name));
    for (const folder of [...packageNames, 'kernel'].map((name) => join(PACKAGES, name, 'src'))) {
      for (const file of await readdir(folder, { recursive: true })) {
        if (!file.endsWith('.ts')) continue;
        const source = await readFile(join(folder, file), 'utf8');
        for (const name of names) if (exportOf(name).test(source)) names.delete(name);
      }
    }
    assert.deepEqual([...names], []);
  });
});
