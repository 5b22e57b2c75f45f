#!/usr/bin/env node
// console.mjs [rows]   measures the console in Chromium: first page, warm page, and a million rows as a table and as a line chart. Reports
// the time until content is visible and the longest task of the page's main thread. Needs Chromium (PLINTH_CHROMIUM, /usr/bin/chromium).
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { HttpClient } from '../scripts/lib/http-client.mjs';
import { root } from '../scripts/lib/root.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const BATCH_ROWS = 100_000;
const REPEATS = 9;
const TIMEOUT_MS = 120_000;

await ensureBuiltOrExit();
const { chromium } = createRequire(path.join(root, 'tests', 'package.json'))('playwright-core');
const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
const server = await startServerProcess({
  dataDir,
  flags: ['--without-auth', '--services', 'tsdb'],
});
const browser = await chromium.launch({
  executablePath: process.env.PLINTH_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  await write(new HttpClient(server.url));
  console.log(
    `75th percentile of ${REPEATS}, load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`,
  );
  const address = (view) =>
    `explore?${new URLSearchParams({ db: 'bench', view, q: 'SELECT time, host, v, w FROM big' })}`;
  await report('first page, nothing cached', () => shown('', 'table'));
  await report('warm page', () => warm());
  await report(`${ROWS} rows as table`, () => shown(address('table'), '[role=gridcell]'));
  await report(`${ROWS} rows as lines`, () => shown(address('line'), 'canvas', zoom));
} finally {
  await browser.close();
  await server.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

async function write(client) {
  for (let from = 0; from < ROWS; from += BATCH_ROWS) {
    const lines = Array.from({ length: Math.min(BATCH_ROWS, ROWS - from) }, (_, k) => {
      const i = from + k;
      const value = (Math.sin(i / 5000) * 50 + (i % 7)).toFixed(3);
      return `big,host=h${i % 10} v=${value},w=${i}i ${1_700_000_000 + Math.floor(i / 10)}`;
    });
    await client.write('bench', lines.join('\n'), 'second');
  }
}

async function report(what, measure) {
  const runs = [];
  for (let turn = 0; turn < REPEATS; turn++) runs.push(await measure());
  for (const key of Object.keys(runs[0])) {
    const sorted = runs.map((run) => run[key]).sort((a, b) => a - b);
    console.log(`  ${what}: ${key} ${Math.round(sorted[Math.floor(REPEATS * 0.75)])}`);
  }
}

/** Each measurement uses a new browser context, so nothing is cached. */
async function open() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(TIMEOUT_MS);
  await context.addInitScript(`globalThis.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask', buffered: true });`);
  return context;
}

function longest(page) {
  return page.evaluate('Math.max(0, ...longTasks)');
}

async function shown(address, there, more = async () => ({})) {
  const context = await open();
  const page = await context.newPage();
  const startMs = performance.now();
  await page.goto(`${server.url}/console/${address}`);
  await page.locator(there).first().waitFor();
  const ms = performance.now() - startMs;
  await page.waitForTimeout(300);
  const figures = { 'shown ms': ms, 'longest task ms': await longest(page) };
  const others = await more(page);
  await context.close();
  return { ...figures, ...others };
}

async function zoom(page) {
  await page.evaluate('longTasks.length = 0');
  const box = await page.locator('.u-over').first().boundingBox();
  await page.mouse.move(box.x + 200, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(500);
  return { 'longest task of a zoom ms': await longest(page) };
}

async function warm() {
  const context = await open();
  const page = await context.newPage();
  await page.goto(`${server.url}/console/`);
  await page.locator('table').first().waitFor();
  await page.waitForTimeout(2500);
  const startMs = performance.now();
  await page.getByRole('link', { name: 'Data' }).click();
  await page.getByRole('heading', { name: 'Data' }).waitFor();
  await page.locator('table').first().waitFor();
  const ms = performance.now() - startMs;
  await context.close();
  return { 'shown ms': ms };
}
