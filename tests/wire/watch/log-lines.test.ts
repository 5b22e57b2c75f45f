// Source: docs/LOG-MESSAGES.md: every message of level error, with the action to take.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packaged } from './prometheus.js';

const PACKAGES = fileURLToPath(new URL('../../../../packages/', import.meta.url));

/** The messages that sources pass to `log.error`. */
function* textsOfSources(): Generator<readonly [text: string, file: string]> {
  for (const file of readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })) {
    if (!/^(?!console|node_modules)[\w-]+\/src\/.*(?<!\.test)\.ts$/.test(file)) continue;
    const source = readFileSync(PACKAGES + file, 'utf8');
    for (const { index } of source.matchAll(/\blog\.error\(/g)) {
      const call = callAt(source, index);
      for (const [, text = ''] of call.matchAll(/'((?:[^'\\\n]|\\.)*)'/g)) {
        if (text.includes(' ')) yield [text, file];
      }
    }
  }
}

/** Returns the source from the name of a function to the closing bracket of its call. */
function callAt(source: string, start: number): string {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if (source[at] === '(') depth += 1;
    if (source[at] === ')' && --depth === 0) return source.slice(start, at);
  }
  return source.slice(start);
}

it('every error that is logged has its row', () => {
  const table = readFileSync(packaged('../docs/LOG-MESSAGES.md'), 'utf8');
  const texts = [...textsOfSources()];
  assert.ok(texts.length > 40, 'the sources were read');
  const absent = texts.filter(([text]) => !table.includes(`\`${text}\``));
  assert.deepEqual(absent, []);
});
