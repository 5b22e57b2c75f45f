// Source: docs/CONSOLE.md: lists that are cut show it, and everything is reachable by keyboard.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

const TABLE_COUNT = 10_000;
const SERIES_COUNT = 2000;
const FIELD_COUNT = 700;

let server: ServerInProcess;
let browser: TestBrowser;
let page: Page;

async function write(db: string, lines: readonly string[]): Promise<void> {
  const path = `/api/v3/write_lp?db=${db}&precision=second&no_sync=true`;
  const response = await server.http.send(path, { body: lines.join('\n') });
  assert.equal(response.status, 204, response.text);
}

const open = (search: Readonly<Record<string, string>>) =>
  page.goto(`${server.url}/console/explore?${new URLSearchParams(search)}`);

describe('a server with many tables, series and columns', { skip: SKIP }, () => {
  before(async () => {
    const limits = ['--num-table-limit', '20000'];
    server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb', ...limits],
    });
    const nowSec = Math.floor(Date.now() / 1000);
    const lines = (count: number, line: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => `${line(index)} ${nowSec - 60}`);
    for (let from = 0; from < TABLE_COUNT; from += 2000)
      await write(
        'tables',
        lines(2000, (index) => `t${from + index} v=${from + index}`),
      );
    // Higher series numbers have higher values.
    await write(
      'series',
      lines(SERIES_COUNT, (index) => `m,host=h${index} v=${index}`),
    );
    const fields = Array.from({ length: FIELD_COUNT }, (_, index) => `f${index}=${index}i`);
    await write('columns', [`wide ${fields.join()} ${nowSec - 60}`]);
    browser = await TestBrowser.start();
    const context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('shows how many of 10,000 tables are listed, and finds the others', async () => {
    await open({ db: 'tables' });
    await page.getByText('1,000 of 10,000 tables; use Find for the others').waitFor();
    await page.getByRole('textbox', { name: 'Find table' }).fill('t9876');
    await page
      .getByRole('button', { name: 'Plot v of t9876' })
      .or(page.getByText('t9876'))
      .first()
      .click();
    await page.goto(`${server.url}/console/data/tables`);
    await page
      .getByText(/10,000/)
      .first()
      .waitFor();
    await page.getByRole('textbox', { name: /find/i }).first().fill('t9876');
    await page.getByRole('link', { name: 't9876' }).click();
    await page.getByRole('heading', { name: 't9876' }).waitFor();
  });

  it('draws the 500 highest of 2,000 series and says so; the table shows all', async () => {
    await open({ db: 'series', q: 'SELECT time, host, v FROM m', view: 'line' });
    await page.getByText(/500 of 2,000/).waitFor();
    await page.getByText('host=h1999').first().waitFor();
    assert.equal(await page.getByText('host=h1499', { exact: true }).count(), 0);
    await page.getByRole('button', { name: 'Table' }).click();
    const grid = page.getByRole('grid');
    assert.equal(await grid.getAttribute('aria-rowcount'), String(SERIES_COUNT + 1));
    await grid.focus();
    await page.keyboard.press('Control+End');
    await page
      .getByRole('rowheader', { name: '2,000' })
      .or(page.getByText('2000', { exact: true }))
      .first()
      .waitFor();
  });

  it('reaches the last of 700 columns by keyboard', async () => {
    await open({ db: 'columns', q: 'SELECT * FROM wide', view: 'table' });
    const grid = page.getByRole('grid');
    await grid.waitFor();
    // The fields and the time column.
    assert.equal(await grid.getAttribute('aria-colcount'), String(FIELD_COUNT + 1));
    await grid.focus();
    const seen = new Set<string>();
    await page.keyboard.press('End');
    for (const text of await page.getByRole('columnheader').allTextContents()) seen.add(text);
    const last = await page.evaluate<string>(
      `document.getElementById(document.querySelector('[role=grid]').getAttribute('aria-activedescendant'))?.textContent`,
    );
    assert.match(last, /^\d+$/);
    assert.ok(seen.size < 60, `${seen.size} columns are drawn at a time`);
  });

  it('plots a field, moves the time range and shares the link by keyboard', async () => {
    await page.goto(`${server.url}/console/`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    /** Presses Tab until the focused element has this name. */
    const tabTo = async (name: RegExp): Promise<void> => {
      for (let presses = 0; presses < 80; presses++) {
        await page.keyboard.press('Tab');
        const focused = await page.evaluate<string>(`(() => {
          const { activeElement: at } = document;
          return at.getAttribute('aria-label') ?? at.textContent ?? '';
        })()`);
        if (name.test(focused)) return;
      }
      assert.fail(`nothing named ${name} has the focus after 80 presses of Tab`);
    };
    // The page may listen for keys only some time after its heading is shown.
    const heading = page.getByRole('heading', { name: 'Explore' });
    for (let tries = 0; tries < 10 && !(await heading.isVisible()); tries++) {
      await page.keyboard.press('g');
      await page.keyboard.press('e');
      await heading.waitFor({ timeout: 4000 }).catch(() => undefined);
    }
    await heading.waitFor();
    await tabTo(/^Database$/);
    await page.keyboard.type('series');
    await page.getByText('1 table', { exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('m');
    await tabTo(/^m$|open m|columns of m/i);
    // The list of tables is one tab stop: the arrow keys move between the controls of a row.
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Plot v of m');
    await page.keyboard.press('Enter');
    await page.getByText(/500 of 2,000/).waitFor();
    const before = page.url();
    await page.keyboard.press('Alt+ArrowLeft');
    await page.waitForURL((url) => url.href !== before && url.searchParams.has('from'));
    await tabTo(/^\s*Share$/);
    await page.keyboard.press('Enter');
    await page.getByText('Link copied').waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(link, /console\/explore\?.*from=20/);
  });

  it('causes no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});

describe('an account with 500 persons', { skip: SKIP }, () => {
  /** The maximum of an account. */
  const PERSON_COUNT = 500;
  const AT_ONCE = 20;

  it('is shown within seconds, with its persons as text', async () => {
    await using own = await ServerInProcess.start({
      flags: ['--services', 'accounts', '--without-auth'],
    });
    const post = async (path: string, body: object, key = '') => {
      const { status, text } = await own.http.send(path, {
        headers: {
          'content-type': 'application/json',
          ...(key !== '' && { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(body),
      });
      assert.ok(status < 300, text);
      return JSON.parse(text) as { readonly id: string; readonly value: string };
    };
    const platform = '/ops/v1/accounts/platforms/plat_default/keys';
    const { value: key } = await post(platform, { kind: 'secret', livemode: false });
    const { id } = await post(
      '/v2/core/accounts',
      { display_name: 'Crowd', identity: { country: 'us', entity_type: 'company' } },
      key,
    );
    for (let from = 0; from < PERSON_COUNT; from += AT_ONCE)
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) =>
          post(`/v2/core/accounts/${id}/persons`, { given_name: `<b>P${from + at}</b>` }, key),
        ),
      );
    const chromium = await TestBrowser.start();
    try {
      const view = await (await chromium.context()).newPage();
      const path = `${own.url}/console/accounts/plat_default/${id}`;
      for (const tab of ['', '?tab=raw', '?tab=persons']) {
        await view.goto(path + tab);
        await view.getByRole('heading', { name: 'Crowd' }).waitFor();
        assert.equal(await view.locator('main b').count(), 0, 'names are text');
        // The page responds.
        await view.keyboard.press('Control+k');
        await view.getByRole('combobox').waitFor();
        await view.keyboard.press('Escape');
      }
      assert.deepEqual(chromium.complaints, []);
    } finally {
      await chromium.close();
    }
  });
});
