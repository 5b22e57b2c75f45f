// Source: CONTRIBUTING.md: the pages about the code name files and exports that exist.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Pages with numbered steps through the code. */
const WALKS = ['docs/CODE-WALKS.md', 'packages/tsdb/ARCHITECTURE.md'];
const STEP = /^\d+\. `([^`]+)`: `(\w+)`/;
const FILE = /`((?:[\w-]+\/)+[\w.-]+\.tsx?)`/g;
/** A name with the file that declares it: "`name` in `file`" or "`name` (`file`)". */
const NAMED_IN = /`(#?\w+)(?:\.(\w+))?` (?:in |\()`((?:[\w-]+\/)+[\w.-]+\.tsx?)`/g;
/** "`file`: `name`", also within a step. */
const NAMED_AFTER = /`((?:[\w-]+\/)+[\w.-]+\.tsx?)`: `(#?\w+)`/g;
/** Paths such as `routes/table.ts` name the same file of each service. */
const OF_EACH_SERVICE = /^(?:routes|domain|storage|model)\//;

const readPage = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

/** Path of a file that a page names by its package, without `src/`. */
function sourceOf(file: string): string {
  const [name = '', ...rest] = file.split('/');
  return join(ROOT, 'packages', name, rest[0] === 'test' ? '' : 'src', ...rest);
}

/** Whether a source declares a function, class, constant, type or member of this name. */
function declares(source: string, name: string): boolean {
  const declaration = `^export (?:async )?(?:function\\*?|class|const|interface|type) ${name}\\b`;
  const member = `^  (?:(?:readonly|async|static|get) )*\\*?${name}(?:<[^(]*>)?[(:= ]`;
  return new RegExp(`${declaration}|${member}`, 'm').test(source);
}

describe('pages about the code', () => {
  for (const page of [...WALKS, 'docs/CODE-MAP.md']) {
    it(`name files that exist: ${page}`, () => {
      const files = [...readPage(page).matchAll(FILE)]
        .map(([, file = '']) => file)
        .filter((file) => !OF_EACH_SERVICE.test(file));
      assert.ok(files.length > 20, `${files.length} files`);
      for (const file of files) assert.ok(existsSync(sourceOf(file)), file);
    });
  }

  for (const page of [...WALKS, 'docs/REQUEST-LIFECYCLE.md']) {
    it(`name the file that declares a name: ${page}`, () => {
      for (const [text, first = '', member, file = ''] of readPage(page).matchAll(NAMED_IN)) {
        const source = readFileSync(sourceOf(file), 'utf8');
        for (const name of member === undefined ? [first] : [first, member])
          assert.ok(declares(source, name), text);
      }
      for (const [text, file = '', name = ''] of readPage(page).matchAll(NAMED_AFTER))
        assert.ok(declares(readFileSync(sourceOf(file), 'utf8'), name), text);
    });
  }

  for (const page of WALKS) {
    it(`number their steps and name an export in each: ${page}`, () => {
      for (const section of readPage(page).split(/^## /m).slice(1)) {
        const steps = section.split('\n').filter((line) => /^\d/.test(line));
        assert.ok(steps.length > 0, section);
        for (const [index, line] of steps.entries()) {
          assert.ok(line.startsWith(`${index + 1}. `), `wrong number: ${line}`);
          const [, file = '', name = ''] = STEP.exec(line) ?? assert.fail(`not a step: ${line}`);
          const pattern = `^export (?:async )?(?:function\\*?|class|const|interface) ${name}\\b`;
          assert.match(readFileSync(sourceOf(file), 'utf8'), new RegExp(pattern, 'm'), file);
        }
      }
    });
  }
});
