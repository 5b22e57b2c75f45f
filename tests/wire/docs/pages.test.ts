// Source: the pages of this repository. Every code block does what its page describes, or names the reason why no test runs it.
// CONTRIBUTING.md, "Pages", explains the marks.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FIRST_STEPS, PAGES, SERVICES, tryPages } from './try-pages.js';

/** Their commands need root, systemd, containers or a release. tests/release/unit.test.ts runs the commands that work without systemd. */
const INSTALLATION = ['INSTALL', 'BACKUP-DISK', 'UPGRADE', 'UNINSTALL', 'CONTAINERS'].map(
  (name) => `docs/${name}.md`,
);
const elsewhere = new Set([...FIRST_STEPS, ...SERVICES]);

tryPages([...PAGES.keys()].filter((name) => !elsewhere.has(name)));

it('most blocks of all pages are tried', () => {
  const blocks = [...PAGES]
    .filter(([name]) => !INSTALLATION.includes(name))
    .flatMap(([, steps]) => steps)
    .filter(({ kind }) => kind === 'block');
  const marked = blocks.filter(({ marks }) => marks.skip !== undefined);
  console.error(
    `plinth: blocks of all ${PAGES.size} pages: ${blocks.length - marked.length} are tried, ${marked.length} marked with why not`,
  );
  assert.ok(blocks.length - marked.length >= 120);
  assert.ok(marked.length < blocks.length / 5);
});
