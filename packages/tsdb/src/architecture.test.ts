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

/** A name with a capital letter, or such names with a dot between them. */
const NAME = /`((?:\w+\.)*#?[a-z]*[A-Z]\w*(?:\.#?\w+)*)`/g;

/** A declaration of this name: an export if it is that of a class, otherwise any function or member. */
function declarationOf(name: string): RegExp {
  const exported = `^export (?:async )?(?:function\\*?|class|const|interface|type) ${name}\\b`;
  const local = `^(?:async )?function\\*? ${name}\\b`;
  const member = `^ {2,}(?:(?:readonly|async|static|get) )*\\*?${name}(?:<[^(]*>)?\\??[(:= ]`;
  return new RegExp(/^[A-Z]/.test(name) ? exported : `${exported}|${local}|${member}`, 'm');
}

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

  it('names only classes that are exported, and functions and members that exist', async () => {
    const sources: string[] = [];
    for (const folder of [...packageNames, 'kernel'].map((name) => join(PACKAGES, name, 'src'))) {
      for (const file of await readdir(folder, { recursive: true }))
        if (file.endsWith('.ts')) sources.push(await readFile(join(folder, file), 'utf8'));
    }
    const names = [...page.matchAll(NAME)].flatMap(([, text = '']) => text.split('.'));
    assert.ok(names.length > 100, `${names.length} names`);
    const patterns = new Map(names.map((name) => [name, declarationOf(name)]));
    for (const source of sources)
      for (const [name, pattern] of patterns) if (pattern.test(source)) patterns.delete(name);
    assert.deepEqual([...patterns.keys()], []);
  });
});
