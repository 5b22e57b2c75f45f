// Source: docs/CONSOLE-INTERNALS.md, "Build and serve" (budgets).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const SITE = fileURLToPath(new URL('../../../packages/console/dist/site/', import.meta.url));
const names = readdirSync(SITE, { recursive: true })
  .map(String)
  .filter((name) => /\.(?:js|css|html|svg)$/.test(name));
const textOf = (name: string): string => readFileSync(SITE + name, 'utf8');
const sizeOf = (name: string): number => gzipSync(textOf(name), { level: 9 }).length;
const KB = 1000;

/** The files of the first page: the shell, and everything that its scripts import statically. */
function initial(): ReadonlySet<string> {
  const found = new Set<string>(['index.html', 'theme.js']);
  const waiting = [...textOf('index.html').matchAll(/\/console\/(assets\/[\w.-]+)"/g)].map(
    ([, name = '']) => name,
  );
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    for (const [, name] of textOf(next).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) {
      waiting.push(`assets/${name}`);
    }
  }
  return found;
}

const check = (what: string, sizeBytes: number, limitKb: number): void =>
  assert.ok(sizeBytes <= limitKb * KB, `${what}: ${sizeBytes} bytes, at most ${limitKb} kB`);

describe('The built console', () => {
  it('keeps its size budgets', () => {
    const first = [...initial()].reduce((sum, name) => sum + sizeOf(name), 0);
    check('first page', first, 170);
    for (const name of names) {
      check(name, sizeOf(name), /\/editor-/.test(name) ? 140 : /worker/.test(name) ? 70 : 130);
    }
    check(
      'everything',
      names.reduce((sum, name) => sum + sizeOf(name), 0),
      800,
    );
  });

  it('contains nothing that its CSP forbids', () => {
    for (const name of names.filter((each) => each.endsWith('.js'))) {
      const text = textOf(name);
      assert.doesNotMatch(text, /\beval\(|\bnew Function\(/, name);
    }
  });
});
