// Source: docs/CONSOLE-EXPLORE.md. Expected values are computed from the rows written here.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

const UNBOUND = /The time range does not apply/;
const DAY_SEC = 86_400;
const BOUND = 'SELECT time, host, usage FROM cpu WHERE time >= ${from} AND time < ${to}';
const YESTERDAY = { from: 'now-1d/d', to: 'now/d' };

let server: ServerInProcess;
let browser: TestBrowser;
let page: Page;

const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
const highest = (words: string): Locator =>
  page.getByRole('img', { name: new RegExp(`highest ${words}`) });
const copied = (): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');
/** The start of a day in UTC, in the format of an input field. */
const dayBefore = (days: number): string =>
  new Date((Math.floor(Date.now() / 1000 / DAY_SEC) - days) * DAY_SEC * 1000)
    .toISOString()
    .slice(0, 10);

async function open(search: Readonly<Record<string, string>>): Promise<void> {
  const all = { db: 'metrics', ...search };
  await page.goto(`${server.url}/console/explore?${new URLSearchParams(all)}`);
}

describe('The time range', { skip: SKIP }, () => {
  before(async () => {
    server = await ServerInProcess.start({ flags: ['--without-auth', '--services', 'tsdb'] });
    const midnightSec = Math.floor(Date.now() / 1000 / DAY_SEC) * DAY_SEC;
    const noonBefore = (days: number) => midnightSec - days * DAY_SEC + DAY_SEC / 2;
    const body = [
      `cpu,host=a usage=7 ${noonBefore(1)}`,
      `cpu,host=b usage=9 ${noonBefore(1) + 60}`,
      `cpu,host=a usage=99 ${noonBefore(2)}`,
      `cpu,host=a usage=50 ${noonBefore(2) + DAY_SEC / 4}`,
    ].join('\n');
    const path = '/api/v3/write_lp?db=metrics&precision=second';
    assert.equal((await server.http.send(path, { body })).status, 204);
    browser = await TestBrowser.start();
    const context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('offers yesterday, and marks the selected preset', async () => {
    await open({ q: BOUND, view: 'line' });
    await page.getByRole('button', { name: 'Last 1 hour' }).click();
    await page.getByRole('button', { name: 'Yesterday' }).click();
    await page.getByRole('img', { name: /highest 9 for host=b/ }).waitFor();
    await page.getByRole('button', { name: 'Yesterday' }).click();
    await page.locator('button[aria-pressed="true"]', { hasText: 'Yesterday' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByText(UNBOUND).count(), 0);
  });

  it('says when a query does not use it', async () => {
    await open({ q: 'SELECT * FROM cpu', view: 'table' });
    await page.getByText(UNBOUND).waitFor();
    await open({ q: 'SELECT 1 AS one', view: 'table' });
    await page.getByRole('gridcell', { name: '1', exact: true }).waitFor();
    assert.equal(await page.getByText(UNBOUND).count(), 0);
  });

  it('is added to a query that does not use it, and removed again', async () => {
    await open({ q: 'SELECT time, host, usage FROM cpu', view: 'line', ...YESTERDAY });
    await highest('99 for host=a').waitFor();
    await button('Add time range').click();
    await highest('9 for host=b').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('q'), BOUND);
    assert.equal(await page.getByText(UNBOUND).count(), 0);
    await button('Undo').click();
    await page.getByText(UNBOUND).waitFor();
    // A zoom by dragging becomes the time range of the query.
    await highest('99 for host=a').waitFor();
    await page.locator('.u-over').waitFor();
    const box = await page.locator('.u-over').boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width * 0.1, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.getByText(/Only the chart is zoomed/).waitFor();
    await button('Apply zoom to query').click();
    await highest('50 for host=a').waitFor();
    await page.waitForURL(/from=20\d\d-/);
  });

  it('is copied when it cannot be added', async () => {
    await open({ q: 'SELECT a.time, a.usage FROM cpu a JOIN cpu b USING (time)', view: 'table' });
    await button('Add time range').click();
    await page.getByText(/reads more than one table/).waitFor();
    assert.equal(await copied(), 'time >= ${from} AND time < ${to}');
  });

  it('is named for a relative link, and replaced by absolute times on request', async () => {
    await open({ q: BOUND, view: 'line', ...YESTERDAY });
    await highest('9 for host=b').waitFor();
    await button('Share').click();
    const note = page.getByRole('dialog', { name: 'Share' });
    await note.getByText(/“Yesterday”/).waitFor();
    assert.match(await copied(), /from=now-1d%2Fd/);
    assert.deepEqual(await violationsOn(page), []);
    await note.getByRole('button', { name: 'Copy with absolute times' }).click();
    await note.waitFor({ state: 'detached' });
    const { searchParams } = new URL(await copied());
    assert.equal(searchParams.get('from'), dayBefore(1));
    assert.equal(searchParams.get('to'), dayBefore(0));
    assert.match(page.url(), /from=now-1d/, 'the page itself goes on');
  });

  it('is fixed to the plotted times, even after a while', async () => {
    const asking = page.waitForRequest(/query_sql/);
    await open({ q: BOUND, view: 'table', from: 'now-3d', to: 'now' });
    const { q } = (await asking).postDataJSON() as { readonly q: string };
    const [, from = '', to = ''] = /'(.*?)'.*'(.*?)'/.exec(q) ?? [];
    await page.getByRole('gridcell', { name: '99', exact: true }).waitFor();
    await page.waitForTimeout(50); // The clock advances.
    await button('Share').click();
    await button('Copy with absolute times').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { searchParams } = new URL(await copied());
    const sent = [from, to].map((text) => Date.parse(text));
    const linked = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    assert.deepEqual(linked, sent);
  });

  it('is not mentioned for a link that always shows the same data', async () => {
    const fixed = { from: dayBefore(1), to: dayBefore(0) };
    for (const search of [
      { q: BOUND, ...fixed },
      { q: 'SELECT time, host, usage FROM cpu', ...YESTERDAY },
    ]) {
      await open({ ...search, view: 'line' });
      await page.getByRole('img', { name: /2 series/ }).waitFor();
      await button('Share').click();
      await page.getByText('Link copied', { exact: true }).waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0);
    }
  });

  it('is replaced by that of the table when it contains no rows', async () => {
    await open({ q: BOUND, view: 'line' });
    await page.getByText('No rows in this time range.').waitFor();
    await button('Show full time range').click();
    await highest('99 for host=a').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('from')?.slice(0, 10), dayBefore(2));
  });

  it('leaves space for the active tab and for the New query button', async () => {
    await page.setViewportSize({ width: 1440, height: 800 });
    const range = { from: '2024-05-06T07:08:09Z', to: '2024-06-07T08:09:10Z' };
    for (let count = 0; count < 9; count++) {
      await open({ q: `SELECT 1 FROM a_table_of_${count}`, ...range });
      await page.locator(`.tab[data-active="true"]`, { hasText: `_${count}` }).waitFor();
      await page.waitForTimeout(400); // Waits until the tab is stored.
    }
    const here = page.locator('.tab[data-active="true"]');
    await page.waitForFunction('document.querySelectorAll(".tab").length > 9');
    const isWhole = (locator: Locator): Promise<boolean> =>
      locator.evaluate((element) => {
        const box = element.getBoundingClientRect();
        const around = element.parentElement?.getBoundingClientRect();
        return around !== undefined && box.left >= around.left && box.right <= around.right + 1;
      });
    assert.ok(await isWhole(here), 'the tab in front is in sight');
    assert.ok(await isWhole(button('New query')), 'a new one can be opened');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('shows each example on one line', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await open({ q: BOUND, view: 'line' });
    await button('Last 1 hour').click();
    const lines = await page
      .getByRole('dialog')
      .locator('[role=status] code')
      .evaluateAll((all) => all.map((each) => each.getClientRects().length));
    assert.deepEqual(lines, [1, 1, 1, 1, 1]);
    await page.keyboard.press('Escape');
  });

  it('labels series of one table only with their tags', async () => {
    const q = 'SELECT mean(usage) FROM cpu GROUP BY time(1d), host fill(none)';
    await open({ q, lang: 'influxql', view: 'line' });
    await page.getByRole('row', { name: /host=b/ }).waitFor();
    assert.equal(await page.getByText('iox::measurement').count(), 0);
  });

  it('fits a narrow page, with all pages in reach', async () => {
    const narrow = await (await browser.context({ width: 390, height: 800 })).newPage();
    await narrow.goto(`${server.url}/console/`);
    const bar = narrow.getByRole('banner');
    for (const item of [bar.getByRole('link', { name: 'Explore' }), bar.getByText('More')]) {
      const box = await item.boundingBox();
      assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
    }
    await bar.getByRole('button', { name: 'More' }).click();
    await narrow.getByRole('dialog').getByRole('link', { name: 'Access', exact: true }).click();
    await narrow.getByRole('heading', { name: 'Tokens' }).waitFor();
    await narrow.goto(`${server.url}/console/explore?db=metrics`);
    await narrow.getByRole('button', { name: 'Last 1 hour' }).click();
    const form = await narrow.locator('.menu-popover').boundingBox();
    await narrow.keyboard.press('Escape');
    // With the same margin on both sides.
    assert.ok(form !== null && form.x >= 8 && form.x + form.width <= 382, JSON.stringify(form));
    const zoomed = {
      db: 'metrics',
      q: BOUND,
      from: '2026-11-25T04:40:09.123Z',
      to: '2026-11-26T02:14:39.456Z',
    };
    await narrow.goto(`${server.url}/console/explore?${new URLSearchParams(zoomed)}`);
    const label = await narrow.getByRole('button', { name: /^2026-11-25/ }).boundingBox();
    const earlier = await narrow.getByRole('button', { name: 'Move back' }).boundingBox();
    assert.ok(label !== null && label.x + label.width <= 390, JSON.stringify(label));
    assert.equal(label.y, earlier?.y, 'they stand on one line');
  });
});
