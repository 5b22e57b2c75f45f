// Source: docs/CONSOLE.md; what is drawn is computed from what is written here.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerProcess } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

const UNBOUND = /The range of time does not bound this query/;
const DAY_SEC = 86_400;

let server: ServerProcess;
let browser: TestBrowser;
let page: Page;

async function open(search: Readonly<Record<string, string>>): Promise<void> {
  const all = { db: 'metrics', ...search };
  await page.goto(`${server.url}/console/explore?${new URLSearchParams(all)}`);
}

describe('The range of time', { skip: SKIP }, () => {
  before(async () => {
    server = await ServerProcess.start({ flags: ['--without-auth', '--services', 'tsdb'] });
    const midnightSec = Math.floor(Date.now() / 1000 / DAY_SEC) * DAY_SEC;
    const noonBefore = (days: number) => midnightSec - days * DAY_SEC + DAY_SEC / 2;
    const body = [
      `cpu,host=a usage=7 ${noonBefore(1)}`,
      `cpu,host=b usage=9 ${noonBefore(1) + 60}`,
      `cpu,host=a usage=99 ${noonBefore(2)}`,
    ].join('\n');
    const path = '/api/v3/write_lp?db=metrics&precision=second';
    assert.equal((await server.http.send(path, { body })).status, 204);
    browser = await TestBrowser.start();
    page = await (await browser.context()).newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('has yesterday, marked where it is chosen', async () => {
    const q = 'SELECT time, host, usage FROM cpu WHERE time >= ${from} AND time < ${to}';
    await open({ q, view: 'line' });
    await page.getByRole('button', { name: 'Last 1 hour' }).click();
    await page.getByRole('button', { name: 'Yesterday' }).click();
    await page.getByRole('img', { name: /highest 9 for host=b/ }).waitFor();
    await page.getByRole('button', { name: 'Yesterday' }).click();
    await page.locator('button[aria-pressed="true"]', { hasText: 'Yesterday' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByText(UNBOUND).count(), 0);
  });

  it('says where a query does not ask for it', async () => {
    await open({ q: 'SELECT * FROM cpu', view: 'table' });
    await page.getByText(UNBOUND).waitFor();
    await open({ q: 'SELECT 1 AS one', view: 'table' });
    await page.getByRole('gridcell', { name: '1', exact: true }).waitFor();
    assert.equal(await page.getByText(UNBOUND).count(), 0);
  });

  it('draws series of one table by their tags alone', async () => {
    const q = 'SELECT mean(usage) FROM cpu GROUP BY time(1d), host fill(none)';
    await open({ q, lang: 'influxql', view: 'line' });
    await page.getByRole('row', { name: /host=b/ }).waitFor();
    assert.equal(await page.getByText('iox::measurement').count(), 0);
  });

  it('leads to a narrow page whose section is in sight', async () => {
    const narrow = await (await browser.context({ width: 390, height: 800 })).newPage();
    await narrow.goto(`${server.url}/console/tokens`);
    const link = narrow.getByRole('link', { name: 'Tokens', exact: true });
    await link.waitFor();
    const box = await link.boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  });
});
