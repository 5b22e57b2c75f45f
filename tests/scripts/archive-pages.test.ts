// Source: docs/RELEASING.md, "Release files": the archive contains the installation page and the pages linked from it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

it('every link of the pages in an archive leads to something that the archive has', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-archive-'));
  try {
    for (const name of ['prometheus', 'grafana'])
      mkdirSync(join(folder, 'share', name), { recursive: true });
    const script = `import { copyPages } from ${JSON.stringify(join(ROOT, 'scripts/release/archive-pages.mjs'))};
      copyPages(${JSON.stringify(join(ROOT, 'docs'))}, ${JSON.stringify(folder)});`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
    const pages = readdirSync(folder, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.md'));
    for (const page of ['INSTALL.md', 'docs/INSTALL.md', 'docs/OPERATIONS.md', 'docs/TOKENS.md'])
      assert.ok(pages.includes(page), page);
    let count = 0;
    for (const page of pages) {
      const text = readFileSync(join(folder, page), 'utf8').replace(/`[^`\n]*`/g, '');
      for (const [, href = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^(?:[a-z]+:|#|\/)/.test(href) || /\.(?:png|svg)$/.test(href)) continue;
        const target = join(folder, dirname(page), href.replace(/#.*/, ''));
        assert.ok(existsSync(target), `${page} links ${href}`);
        count++;
      }
    }
    assert.ok(count > 100, `${count} links`);
    assert.match(readFileSync(join(folder, 'INSTALL.md'), 'utf8'), /\]\(docs\/SETTINGS\.md\)/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
