// Source: docs/CONSOLE.md; WCAG 2.2 AA as axe-core tests it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess, WITH_SAMPLE_DATA } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

let filled: ServerInProcess;
let empty: ServerInProcess;
let browser: TestBrowser;

const LINE = new URLSearchParams({
  db: 'sample',
  lang: 'sql',
  view: 'line',
  from: '2020-01-01',
  to: '2020-01-02',
  q: 'SELECT time, host, v FROM m ORDER BY time',
});
/** Each path with an element that must exist before the check. */
const PAGES: readonly (readonly [path: string, there: string])[] = [
  ['', 'h1'],
  [`explore?${LINE}`, 'canvas'],
  [`explore?${LINE}&view=table`.replace('view=line&', ''), '[role=gridcell]'],
  [`explore?${LINE}&view=stat`.replace('view=line&', ''), '.stat'],
  ['explore?db=sample&q=SELECT+nothing', '[role=alert]'],
  ['data', 'table'],
  ['data/sample', 'table'],
  ['data/sample/m', '[role=gridcell]'],
  [
    `explore?${LINE}&view=table&sort=-v&hidden=["host"]`.replace('view=line&', ''),
    '[aria-sort=descending]',
  ],
  ['storage?db=sample', 'dl'],
  ['storage?db=sample&table=m', '.file-strip'],
  ['caches?db=sample', 'h1'],
  ['triggers?db=sample', 'h2'],
  ['webhooks?all=1', 'h1'],
  ['webhooks/1', 'table'],
  ['webhooks/1/configuration', 'form'],
  ['webhooks/1/redrive', 'fieldset'],
  ['webhooks/1/publish', 'form'],
  ['limits', 'h2'],
  ['limits/simulate?identity=user:7', 'form'],
  ['gamedata', 'table'],
  ['gamedata/items', 'table'],
  ['gamedata/items?create=1', 'form'],
  ['gamedata/changes', 'h2'],
  ['gamedata/versions', 'table'],
  ['gamedata/exchange', 'form, h2'],
  ['identities', 'h1'],
  ['queries', 'h2'],
  ['tokens', 'table'],
  ['server', '.panel'],
  ['server?tab=settings&all=1', 'table'],
  ['server?tab=logs', 'table'],
  ['nowhere', 'h1'],
];
const LOOKS = [
  { theme: 'dark', width: 1280, height: 800 },
  { theme: 'light', width: 360, height: 740 },
] as const;

async function tokenOf(server: ServerInProcess): Promise<string> {
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  return JSON.parse(made.text).token;
}

describe('every page', { skip: SKIP }, () => {
  let filledToken = '';
  let emptyToken = '';
  before(async () => {
    [filled, empty] = await Promise.all([
      ServerInProcess.start({
        flags: ['--services', 'tsdb,webhooks,ratelimit,gamedata'],
        env: WITH_SAMPLE_DATA,
      }),
      ServerInProcess.start({ flags: ['--services', 'tsdb,webhooks,ratelimit'] }),
    ]);
    [filledToken, emptyToken] = await Promise.all([tokenOf(filled), tokenOf(empty)]);
    const start = Date.parse('2020-01-01T00:00:00Z') / 1000;
    const lines = Array.from(
      { length: 48 },
      (_, i) => `m,host=h${i % 3} v=${i} ${start + i * 600}`,
    );
    await filled.http.send('/api/v3/write_lp?db=sample&precision=second', {
      headers: { authorization: `Bearer ${filledToken}` },
      body: lines.join('\n'),
    });
    await filled.http.send('/ops/v1/apps', {
      headers: { authorization: `Bearer ${filledToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'ci', webhook: { url: 'https://ci.invalid/hook' } }),
    });
    await filled.http.send('/ops/v1/tsdb/storage/flush', {
      method: 'POST',
      headers: { authorization: `Bearer ${filledToken}` },
    });
    browser = await TestBrowser.start();
  });
  after(async () => {
    await browser?.close();
    await Promise.all([filled?.close(), empty?.close()]);
  });

  const look = async (page: Page, url: string, there: string): Promise<void> => {
    await page.goto(url);
    await page.locator(there).first().waitFor({ state: 'attached' });
    await page.locator('h1').first().waitFor();
    assert.equal(await page.locator('h1').count(), 1, url);
    assert.deepEqual(await violationsOn(page), [], url);
    const wide = await page.evaluate<number>(
      `Math.max(...[document.documentElement, document.querySelector('main')].map((each) =>
        each.scrollWidth - each.clientWidth))`,
    );
    assert.equal(wide, 0, `${url} is ${wide} px wider than the window`);
  };

  for (const { theme, width, height } of LOOKS) {
    describe(`is accessible in ${theme} at ${width} pixels`, () => {
      let page: Page;
      before(async () => {
        const context = await browser.context({ theme, width, height, token: filledToken });
        page = await context.newPage();
      });
      after(() => page?.context().close());
      for (const [path, there] of PAGES) {
        it(`/console/${path}`, () => look(page, `${filled.url}/console/${path}`, there));
      }
    });
  }

  it('is accessible when there is nothing to show', async () => {
    const context = await browser.context({ token: emptyToken });
    const page = await context.newPage();
    for (const path of ['', 'explore', 'data', 'storage', 'queries']) {
      await look(page, `${empty.url}/console/${path}`, 'h1');
    }
    await context.close();
  });

  it('is accessible before the sign-in', async () => {
    const context = await browser.context();
    const page = await context.newPage();
    await look(page, `${filled.url}/console/data`, 'form');
    await context.close();
  });

  it('causes no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});

/** Pages with inputs whose value is in the URL. */
const INPUTS: readonly (readonly [path: string, label: string, parameter: string])[] = [
  ['accounts', 'Find account', 'find'],
  ['data', 'Find database', 'find'],
  ['server?tab=settings', 'Find setting', 'find'],
  ['limits/simulate', 'Caller', 'identity'],
  ['webhooks/1', 'GUID', 'guid'],
  ['webhooks/1/redrive', 'Event', 'event'],
  ['explore?db=sample&q=SELECT+$x&builder=off', '$x', 'p.x'],
];
const CHECKBOXES: readonly (readonly [path: string, label: string, query: string])[] = [
  ['accounts', 'Closed', 'closed=1'],
  ['data', 'Show deleted', 'deleted=1'],
  ['server?tab=settings', 'Only changed settings', 'all=1'],
  ['server?tab=logs', 'live', 'live=off'],
];

describe('inputs in the URL', { skip: SKIP }, () => {
  let server: ServerInProcess;
  let own: TestBrowser;
  let page: Page;
  before(async () => {
    server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb,webhooks,ratelimit,accounts'],
    });
    await server.http.send('/api/v3/write_lp?db=sample', { body: 'm v=1' });
    await server.http.send('/ops/v1/apps', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'ci', webhook: { url: 'https://ci.invalid/hook' } }),
    });
    own = await TestBrowser.start();
    page = await (await own.context()).newPage();
  });
  after(async () => {
    await own?.close();
    await server?.close();
  });

  it('lose no character of fast typing while the page is busy', async () => {
    const text = 'reading-4711';
    for (const [path, label, parameter] of INPUTS) {
      await page.goto(`${server.url}/console/${path}`);
      const input = page.getByRole('textbox', { name: label, exact: true });
      await input.waitFor();
      await page.evaluate(() => {
        setInterval(() => {
          for (const endMs = performance.now() + 30; performance.now() < endMs; );
        }, 45);
      });
      await input.pressSequentially(text, { delay: 0 });
      assert.equal(await input.inputValue(), text, `${path} ${label}`);
      // The caret stays where it is.
      await page.keyboard.press('Home');
      await page.keyboard.type('xyz');
      assert.equal(await input.inputValue(), `xyz${text}`, `${path} ${label}`);
      await page.waitForURL((url) => url.searchParams.get(parameter) === `xyz${text}`);
      assert.equal(await input.inputValue(), `xyz${text}`, `${path} ${label}`);
    }
  });

  it('show a click at once, and follow the URL when it changes otherwise', async () => {
    for (const [path, label, query] of CHECKBOXES) {
      await page.goto(`${server.url}/console/${path}`);
      const box = page.getByRole('checkbox', { name: label, exact: true });
      const before = await box.isChecked();
      // React has processed the click when `click` returns.
      const after = await box.evaluate((element) => {
        element.click();
        return element.checked;
      });
      assert.equal(after, !before, `${path} ${label}`);
      await page.waitForURL((url) => url.search.includes(query));
      assert.equal(await box.isChecked(), !before);
    }
    await page.goto(`${server.url}/console/data?find=first`);
    await page.getByRole('textbox', { name: 'Find database' }).waitFor();
    await page.getByRole('link', { name: 'Storage' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Storage' }).waitFor();
    await page.goBack();
    const find = page.getByRole('textbox', { name: 'Find database' });
    await find.waitFor();
    assert.equal(await find.inputValue(), 'first');
  });

  it('cause no browser errors', () => {
    assert.deepEqual(own.complaints, []);
  });
});

describe('dialogs', { skip: SKIP }, () => {
  it('are accessible, and are closed by Escape', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb,webhooks,ratelimit'],
    });
    await server.http.send('/api/v3/write_lp?db=sample', { body: 'm v=1' });
    const own = await TestBrowser.start();
    try {
      const context = await own.context();
      const page = await context.newPage();
      await page.goto(`${server.url}/console/data`);
      await page.getByRole('link', { name: 'sample' }).waitFor();
      for (const name of ['Create database', 'Write']) {
        await page.getByRole('button', { name, exact: true }).click();
        const dialog = page.getByRole('dialog', { name });
        await dialog.waitFor();
        assert.deepEqual(await violationsOn(page), [], name);
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }
      await page.keyboard.press('Control+K');
      await page.getByRole('combobox').fill('samp');
      await page.getByRole('option', { name: /sample/ }).waitFor();
      assert.deepEqual(await violationsOn(page), [], 'palette');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /sample/ }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('g');
      await page.keyboard.press('q');
      await page.getByRole('heading', { name: 'Queries' }).waitFor();
      assert.deepEqual(own.complaints, []);
    } finally {
      await own.close();
    }
  });
});
