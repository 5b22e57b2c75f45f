// Source: CONTRIBUTING.md, "What to change together": a source named by a test exists in the repository.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../scripts/sources.mjs', import.meta.url));
/** A separate constant, because the check reads this file as well. */
const SOURCE = 'Source:';
const GUIDE = 'docs/ARCHITECTURE.md';
const NOWHERE = 'docs/NOWHERE.md';
const PAGE = '# Rooms\n\n## 2. HTTP\n\n### 2.2 Error bodies\n\n## 8. Getting events in\n';

/** Returns the output of the check for a repository with two pages and one file; empty without findings. */
function check(text: string): string {
  const top = mkdtempSync(join(tmpdir(), 'plinth-sources-'));
  const files = {
    'docs/spec/rooms.md': PAGE,
    [GUIDE]: '# Architecture\n\n## Layers\n',
    'packages/a/src/a.ts': text,
    'packages/a/dist/a.ts': `// ${SOURCE} rooms, section 99.`,
  };
  try {
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(top, file)), { recursive: true });
      writeFileSync(join(top, file), content);
    }
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, top], { encoding: 'utf8' });
    assert.equal(status, stderr === '' ? 0 : 1);
    return stderr.trimEnd();
  } finally {
    rmSync(top, { recursive: true });
  }
}

const says = (text: string, ...problems: string[]) =>
  assert.deepEqual(
    check(text),
    problems.map((problem) => `packages/a/src/a.ts: ${problem}`).join('\n'),
  );

it('finds sections by number and by title', () => {
  says(`// ${SOURCE} rooms, section 2.2.`);
  says(`// ${SOURCE} rooms, sections 2 to 2.2 and 8; RFC 9110, section 5.5.`);
  says(`/** ${SOURCE} rooms, "Error bodies" (all of them) and §8. */`);
  says(`// Expected texts: ${GUIDE}, "Layers".`);
});

it('names the section that a page does not have', () => {
  const none = (section: string) => `docs/spec/rooms.md has no section ${section}`;
  says(`// ${SOURCE} rooms, section 2.3.`, none('2.3'));
  says(`// ${SOURCE} rooms, sections 2 (HTTP), 3 and 9.`, none('3'), none('9'));
  says(`// ${SOURCE} rooms, "Error bodies" and "Errors".`, none('Errors'));
  says(`// Expected texts: ${GUIDE}, "Walls".`, `${GUIDE} has no section Walls`);
});

it('reads a comment of several lines as one text', () => {
  const none = 'docs/spec/rooms.md has no section 7.1';
  says(`/**\n * Signs. ${SOURCE} rooms, section\n * 7.1.\n */`, none);
  says(`// ${SOURCE} rooms, sections 2.2\n// and 7.1.`, none);
});

it('refuses pages that are not there, and texts that no reader has', () => {
  says(`// ${SOURCE} billing, section 1.`, 'docs/spec/billing.md does not exist');
  says(`// ${SOURCE} ${NOWHERE}, "Walls".`, `${NOWHERE} does not exist`);
  for (const source of [
    'architecture, "Layers".',
    'house style, "Names".',
    'requirement document 2.',
  ]) {
    says(`// ${SOURCE} ${source}`, `cites ${source}`);
  }
});
