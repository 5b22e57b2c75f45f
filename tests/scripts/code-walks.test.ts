// Source: docs/CODE-WALKS.md, docs/CODE-MAP.md: every file and name that the pages mention exists.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const STEP = /^\d+\. `([^`]+)`: `(\w+)`/gm;
const FILE = /`([a-z-]+\/[\w/-]+\.tsx?)`/g;

const readPage = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');

function sourceOf(file: string): string {
  const [name = '', ...rest] = file.split('/');
  return join(ROOT, 'packages', name, 'src', ...rest);
}

describe('CODE-WALKS.md and CODE-MAP.md', () => {
  it('name files that exist', () => {
    for (const page of ['CODE-WALKS.md', 'CODE-MAP.md']) {
      const files = [...readPage(page).matchAll(FILE)]
        .map(([, file = '']) => file)
        .filter((file) => existsSync(join(ROOT, 'packages', file.split('/')[0] ?? '')));
      assert.ok(files.length > 20, `${page} names ${files.length} files`);
      for (const file of files) assert.ok(existsSync(sourceOf(file)), `${page}: ${file}`);
    }
  });

  it('name an export of each file of a walk', () => {
    for (const [, file = '', name = ''] of readPage('CODE-WALKS.md').matchAll(STEP)) {
      const pattern = `^export (?:async )?(?:function\\*?|class|const|interface) ${name}\\b`;
      assert.match(readFileSync(sourceOf(file), 'utf8'), new RegExp(pattern, 'm'), file);
    }
  });
});
