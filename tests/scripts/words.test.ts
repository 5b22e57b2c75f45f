// Source: the word lists in scripts/lib/word-lists.mjs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../scripts/words.mjs', import.meta.url));
const CEILINGS = 'scripts/lib/word-ceilings.json';

const folder = mkdtempSync(join(tmpdir(), 'plinth-words-'));
after(() => rmSync(folder, { recursive: true }));
spawnSync('git', ['init', '-q', folder]);

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function run(...flags: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [SCRIPT, '--root', folder, ...flags],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

it('finds terms in pages, comments, sentences and names, and not in code or other strings', () => {
  write('docs/a.md', 'A client asks `ask` twice.\n\n```sh\nask\n```\n');
  write(
    'packages/a/src/a.ts',
    [
      "import { x } from './ask.js';",
      '/** Nobody `asks`. */',
      'const at = /it.s a whole/; // whole',
      "throw new Error(`the ${'whole'} file stands here`);",
      'function tellAll() { return "whole"; }',
    ].join('\n'),
  );
  write(CEILINGS, '{}');
  const { stdout } = run('--list');
  assert.deepEqual(
    stdout
      .trim()
      .split('\n')
      .map((line) => /^(.*?": ?)/.exec(line)?.[1]?.trim()),
    [
      'docs/a.md:1: page "ask":',
      'packages/a/src/a.ts:2: comment "whoever":',
      'packages/a/src/a.ts:3: comment "whole":',
      'packages/a/src/a.ts:4: string "stand, lie":',
      'packages/a/src/a.ts:5: name "tell":',
    ],
  );
});

it('fails above a ceiling, which only falls', () => {
  write('packages/a/src/a.ts', '// whole whole\n');
  write('docs/a.md', 'Nothing.\n');
  write(CEILINGS, '{"comment":{"whole":1}}');
  const { status, stderr } = run();
  assert.equal(status, 1);
  assert.match(stderr, /^comment: "whole" 2 times, at most 1; write: complete$/m);
  run('--lower');
  assert.deepEqual(JSON.parse(readFileSync(join(folder, CEILINGS), 'utf8')).comment, { whole: 1 });
  write('packages/a/src/a.ts', '// complete\n');
  assert.equal(run().status, 0);
  run('--lower');
  assert.deepEqual(JSON.parse(readFileSync(join(folder, CEILINGS), 'utf8')).comment, {});
});

it('leaves entries of released versions as they are', () => {
  write('CHANGELOG.md', '## [Unreleased]\n\n- Fixed.\n\n## [1.0.0] - 2026-01-31\n\n- The whole.\n');
  assert.doesNotMatch(run('--list').stdout, /CHANGELOG/);
});
