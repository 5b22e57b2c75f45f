// Source: docs/CONSOLE.md; WCAG 2.2 AA as axe-core tests it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';
import { FilledServer, PAGES } from './filled-server.js';

let filled: FilledServer;
let empty: ServerInProcess;
let browser: TestBrowser;

const PICTURES = process.env['PLINTH_TEST_PICTURES'];
const ALL_LOOKS = (['dark', 'light'] as const).flatMap((theme) => [
  { theme, width: 1280, height: 800 },
  { theme, width: 360, height: 740 },
]);
/** By default, two of the four looks are tested. */
const LOOKS = ALL_LOOKS.filter(
  ({ theme, width }) =>
    process.env['PLINTH_TEST_LOOKS'] === 'all' || (theme === 'dark') === (width === 1280),
);
const ROUTES = new URL('../../../packages/console/src/routes.tsx', import.meta.url);

describe('every page', { skip: SKIP }, () => {
  let emptyToken = '';
  before(async () => {
    [filled, empty] = await Promise.all([
      FilledServer.start(),
      ServerInProcess.start({ flags: ['--services', 'tsdb,webhooks,ratelimit'] }),
    ]);
    const made = await empty.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    emptyToken = JSON.parse(made.text).token;
    browser = await TestBrowser.start();
  });
  after(async () => {
    await browser?.close();
    await Promise.all([filled?.close(), empty?.close()]);
  });

  const look = async (page: Page, url: string, there: string, picture?: string): Promise<void> => {
    await page.goto(url);
    await page.locator(there).first().waitFor({ state: 'attached' });
    await page.locator('h1').first().waitFor();
    if (PICTURES !== undefined && picture !== undefined)
      await page.screenshot({ path: `${PICTURES}/${picture}.png`, fullPage: true });
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
        const { token } = filled;
        const context = await browser.context({ theme, width, height, token });
        page = await context.newPage();
      });
      after(() => page?.context().close());
      for (const [path, there] of PAGES) {
        const name = path.replace(/[^a-z0-9]+/gi, '-').slice(0, 60);
        it(`/console/${path}`, () =>
          look(page, filled.address(path), there, `page-${name}-${theme}-${width}`));
      }
    });
  }

  it('of the table of routes is checked', async () => {
    const source = await readFile(ROUTES, 'utf8');
    const routes = [...source.matchAll(/\broute\('([^']+)'/g)].map(([, path = '']) => path);
    assert.ok(routes.length > 30, 'the table of routes was found');
    const paths = PAGES.map(([path]) => `/${path.split('?')[0]}`);
    const isFixed = (path: string) => routes.includes(path);
    const missing = routes.filter((route) => {
      const pattern = new RegExp(`^${route.replace(/\$\w+/g, '[^/]+')}$`);
      return !paths.some((path) => pattern.test(path) && (path === route || !isFixed(path)));
    });
    assert.deepEqual(missing, []);
  });

  it('is accessible when there is nothing to show', async () => {
    const context = await browser.context({ token: emptyToken });
    const page = await context.newPage();
    for (const path of ['', 'explore', 'data', 'storage', 'queries']) {
      await look(page, `${empty.url}/console/${path}`, 'h1');
    }
    await context.close();
  });

  it('is found with the objects of all services, the last ones first', async () => {
    const page = await (await browser.context({ token: filled.token })).newPage();
    await page.goto(filled.address(''));
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const found = async (text: string, kind: string, name: RegExp): Promise<void> => {
      await page.keyboard.press('Control+K');
      await page.getByRole('dialog').getByRole('combobox').fill(text);
      const group = page.getByRole('group', { name: kind });
      await group.getByRole('option', { name }).first().waitFor();
    };
    const { account, event, guid, name: item } = filled.ids;
    for (const [text, kind, name] of [
      ['furever', 'Accounts', /Furever Ltd/],
      ['mona', 'Identities', /mona user:7/],
      ['hour', 'Triggers', /hourly sample/],
      [item, 'Game data', new RegExp(`${item} items`)],
      [guid, 'Deliveries', /ci, /],
      ['user:9', 'Callers', /user:9/],
      ['ping to', 'Actions', /Send ping to ci/],
    ] as const) {
      await found(text, kind, name);
      if (kind === 'Accounts') assert.deepEqual(await violationsOn(page), []);
      await page.keyboard.press('Escape');
    }
    await found(event, 'Events', /evt_/);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/accounts/plat_default/${account}?tab=events`);
    await found('create tok', 'Actions', /Create token/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create token' }).waitFor();
    await page.keyboard.press('Escape');
    await found('', 'Recent', /Create token/);
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/palette.png` });
    await page.context().close();
  });

  it('is in a collapsible navigation, with the totals of the services on Home', async () => {
    const page = await (await browser.context({ token: filled.token })).newPage();
    await page.goto(filled.address('caches'));
    const rail = page.getByRole('navigation', { name: 'Sections' });
    const width = async () => (await page.locator('.rail').boundingBox())?.width;
    assert.equal(await width(), 208);
    assert.equal(await rail.locator('[aria-current]').innerText(), 'Databases');
    const tabs = page.getByRole('navigation', { name: 'Section', exact: true }).getByRole('link');
    assert.deepEqual(await tabs.allInnerTexts(), ['Databases', 'Caches', 'Storage']);
    await rail.getByRole('link', { name: 'Access' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
    assert.deepEqual(await tabs.allInnerTexts(), ['Tokens', 'Identities', 'InfluxDB 1.x users']);
    await page.getByRole('button', { name: 'Collapse' }).click();
    await page.goto(filled.address('server?tab=logs'));
    assert.equal(await tabs.and(page.locator('[aria-current]')).innerText(), 'Logs');
    assert.equal(await width(), 56);
    assert.deepEqual(await violationsOn(page), []);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('menuitem', { name: 'Dark theme' }).click();
    await page.locator('[data-theme=dark]').waitFor();
    await rail.getByRole('link', { name: 'Home' }).click();
    await page.getByText(/^Accounts \d · \d with deadlines$/).waitFor();
    await page.getByText(/^Game data v\d+ · 1 draft$/).waitFor();
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/collapsed.png` });
    await page.context().close();
  });

  it('is accessible before the sign-in', async () => {
    const context = await browser.context();
    const page = await context.newPage();
    await look(page, filled.address('data'), 'form');
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
      await page.getByRole('option', { name: 'sample', exact: true }).waitFor();
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
