import assert from 'node:assert/strict';
import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { describe, it } from 'node:test';

const PACKAGE = join(import.meta.dirname, '..');
const STATION = /^\d+\. `([^`]+)`: `(\w+)`/;
/** A file name in backquotes, from `src/` on. */
const FILE = /`((?:[\w-]+\/)*[\w-]+\.ts)`/g;
/** A row of the folder table, by its first cell: one folder, or several folders of one kind. */
const FOLDER = /^\| (`[^|]+`) \|/gm;

/** Includes tests. */
const MAX_FILES = 15;

const exportOf = (name: string): RegExp =>
  new RegExp(`^export (?:async )?(?:function\\*?|class|const|interface) ${name}\\b`, 'm');

/**
 * Number of files by folder, named as on the page. Below `src` the path starts there; elsewhere it
 * starts at the package. `.` is `src` itself.
 */
async function foldersWithSources(): Promise<Map<string, number>> {
  const folders = new Map<string, number>();
  for (const top of ['src', 'test']) {
    for (const file of await readdir(join(PACKAGE, top), { recursive: true })) {
      if (!file.endsWith('.ts') || file.startsWith(`dist${sep}`)) continue;
      const folder = dirname(top === 'src' ? file : join(top, file)).replaceAll(sep, '/');
      folders.set(folder, (folders.get(folder) ?? 0) + 1);
    }
  }
  return folders;
}

describe('ARCHITECTURE.md', async () => {
  const page = await readFile(join(PACKAGE, 'ARCHITECTURE.md'), 'utf8');
  const folders = await readFile(join(PACKAGE, 'FOLDERS.md'), 'utf8');
  for (const section of page.split(/^## /m).slice(1)) {
    const [title = '', ...lines] = section.split('\n');
    const stations = lines.filter((line) => /^\d/.test(line));
    it(`refers to existing files and names: ${title}`, async () => {
      assert.ok(stations.length > 0);
      for (const [i, line] of stations.entries()) {
        assert.ok(line.startsWith(`${i + 1}. `), `${line} is out of turn`);
        const [, file = '', name = ''] = STATION.exec(line) ?? assert.fail(`no station: ${line}`);
        const source = await readFile(join(PACKAGE, 'src', file), 'utf8');
        assert.match(source, exportOf(name), `${file} exports no ${name}`);
      }
    });
  }

  it('FOLDERS.md has every folder with sources in one row, and no other folder', async () => {
    const cells = [...folders.matchAll(FOLDER)].map(([, cell = '']) => cell);
    const named = cells.flatMap((cell) => cell.slice(1, -1).split('`, `'));
    assert.deepEqual(named.sort(), [...(await foldersWithSources()).keys()].sort());
  });

  it('keeps folders small', async () => {
    for (const [folder, count] of await foldersWithSources())
      assert.ok(count <= MAX_FILES, `${folder} has ${count} files`);
  });

  it('names only existing files', async () => {
    for (const [, file = ''] of page.matchAll(FILE))
      await access(join(PACKAGE, /^(?:src|test)\//.test(file) ? '' : 'src', file));
  });

  it('names only exported classes', async () => {
    const names = new Set([...page.matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => name));
    for (const folder of [join(PACKAGE, 'src'), join(PACKAGE, '../kernel/src')]) {
      for (const file of await readdir(folder, { recursive: true })) {
        if (!file.endsWith('.ts')) continue;
        const source = await readFile(join(folder, file), 'utf8');
        for (const name of names) if (exportOf(name).test(source)) names.delete(name);
      }
    }
    assert.deepEqual([...names], []);
  });
});
