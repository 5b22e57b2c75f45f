// Source: the pages of this repository: every block of code does what its page says, or says why no test runs it.
// The marks are explained in CONTRIBUTING.md, "Pages".
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readPage } from './page.js';
import { type Outcome, PageRun } from './page-run.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** What code cites, and why things were decided: neither tells readers to do anything. */
const NOT_READ = /^docs\/(?:spec|adr|site)\//;

const isThere = (name: string) => statSync(ROOT + name, { throwIfNoEntry: false }) !== undefined;
const packages = readdirSync(`${ROOT}packages`).flatMap((name) =>
  ['README.md', 'ARCHITECTURE.md'].map((page) => `packages/${name}/${page}`),
);
const docs = readdirSync(`${ROOT}docs`, { recursive: true }).map((name) => `docs/${name}`);
const PAGES = ['README.md', 'CONTRIBUTING.md', 'packaging/INSTALL.md', ...docs, ...packages]
  .filter((name) => name.endsWith('.md') && !NOT_READ.test(name) && isThere(name))
  .sort();

const counts = new Map<Outcome, number>();
const count = (outcome: Outcome) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
const hasShell = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0);

describe('the blocks of the pages', { skip: hasShell ? false : 'needs bash and curl' }, () => {
  for (const name of PAGES) {
    const steps = readPage(ROOT + name);
    if (!steps.some(({ kind }) => kind === 'block')) continue;
    it(name, async (context) => {
      const run = await PageRun.start(steps);
      const about: string[] = [];
      try {
        for (const step of steps) {
          const outcome = await run.take(step).catch((error: unknown) => {
            throw new Error(`${name}:${step.line}: ${(error as Error).message}`, { cause: error });
          });
          if (outcome === undefined) continue;
          count(outcome);
          about.push(outcome);
        }
      } finally {
        await run.close();
      }
      context.diagnostic(`${about.length} blocks: ${[...new Set(about)].sort().join(', ')}`);
    });
  }
  it('are many, and few are not run', () => {
    const told = [...counts].map(([outcome, n]) => `${n} ${outcome}`).join(', ');
    const of = (...outcomes: Outcome[]) =>
      outcomes.reduce((sum, outcome) => sum + (counts.get(outcome) ?? 0), 0);
    const tried = of('run', 'compared', 'used');
    console.error(`plinth: blocks of the pages: ${tried} tried (${told})`);
    assert.ok(tried >= 120, `${tried} blocks were tried`);
    assert.ok(of('marked') < tried / 4, told);
  });
});
