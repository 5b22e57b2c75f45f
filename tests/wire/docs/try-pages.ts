import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readPage, type Step } from './page.js';
import { type Outcome, PageRun } from './page-run.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** Specifications and decision records contain no instructions for readers. */
const NOT_READ = /^docs\/(?:spec|adr|site)\//;

const isThere = (name: string) => statSync(ROOT + name, { throwIfNoEntry: false }) !== undefined;
const packages = readdirSync(`${ROOT}packages`).flatMap((name) =>
  ['README.md', 'ARCHITECTURE.md'].map((page) => `packages/${name}/${page}`),
);
// `docs/site` contains installed packages, which are not searched.
const docs = readdirSync(`${ROOT}docs`).flatMap((name) =>
  statSync(`${ROOT}docs/${name}`).isDirectory() && name !== 'site'
    ? readdirSync(`${ROOT}docs/${name}`).map((page) => `docs/${name}/${page}`)
    : [`docs/${name}`],
);
/** Every page with code blocks, by its name. */
export const PAGES: ReadonlyMap<string, readonly Step[]> = new Map(
  ['README.md', 'CONTRIBUTING.md', ...docs, ...packages]
    .filter((name) => name.endsWith('.md') && !NOT_READ.test(name) && isThere(name))
    .sort()
    .map((name) => [name, readPage(ROOT + name)] as const)
    .filter(([, steps]) => steps.some(({ kind }) => kind === 'block')),
);

/** In separate test files, because a file may run for five minutes. */
export const FIRST_STEPS = [
  'README.md',
  ...['TUTORIAL', 'TIME-SERIES', 'QUERYING', 'PLUGINS'].map((name) => `docs/${name}.md`),
];
export const SERVICES = [
  ...[
    'ACCOUNTS',
    'ACCOUNT-EVENTS',
    'GAME-DATA',
    'LIMITS',
    'LIMITS-FOR-YOUR-SERVICES',
    'WEBHOOKS',
    'WEBHOOK-RECEIVERS',
    'APP-API',
  ].map((name) => `docs/${name}.md`),
  ...['gamedata-client', 'ratelimit'].map((name) => `packages/${name}/README.md`),
];

const hasShell = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0);

/** Runs all blocks of these pages and reports their number. */
export function tryPages(names: readonly string[]): void {
  describe('the blocks of', { skip: hasShell ? false : 'needs bash and curl' }, () => {
    const counts = new Map<Outcome, number>();
    for (const name of names) it(name, () => tryPage(name, counts));
    it('the pages are tried, most of them here', () => {
      const told = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
      console.error(`plinth: blocks of ${names.length} pages: ${told}`);
      const tried = [...counts].filter(
        ([outcome]) => outcome !== 'marked' && outcome !== 'not here',
      );
      const triedCount = tried.reduce((sum, [, count]) => sum + count, 0);
      // Outside of CI, programs needed by blocks may be missing.
      const mayLack = process.env['CI'] === undefined;
      assert.ok(mayLack || triedCount >= 4 * (counts.get('not here') ?? 0));
    });
  });
}

async function tryPage(name: string, counts: Map<Outcome, number>): Promise<void> {
  const steps = PAGES.get(name);
  if (steps === undefined) throw new Error(`${name} has no blocks`);
  const run = await PageRun.start(steps);
  try {
    for (const step of steps) {
      const outcome = await run.take(step).catch((error: unknown) => {
        throw new Error(`${name}:${step.line}: ${(error as Error).message}`, { cause: error });
      });
      if (outcome !== undefined) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
  } finally {
    await run.close();
  }
}
