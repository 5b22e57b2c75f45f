// Source: docs/CONSOLE.md: the tasks of a developer on the first day.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

const PICTURES = process.env['PLINTH_TEST_PICTURES'];
let server: ServerInProcess;
let browser: TestBrowser;
let context: BrowserContext;
let page: Page;
let token = '';

/** Counts clicks; key presses are not counted. */
let clickCount = 0;
const click = async (target: Locator): Promise<void> => {
  clickCount += 1;
  await target.click();
};
const button = (name: string | RegExp): Locator => page.getByRole('button', { name });

describe('the first day', { skip: SKIP }, () => {
  before(async () => {
    server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
    browser = await TestBrowser.start();
    context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('leads from the address of the server to a chart in three clicks', async () => {
    await page.goto(`${server.url}/`);
    await click(button('Create admin token'));
    token = (await page.locator('.copy-box pre').textContent()) ?? '';
    assert.match(token, /^apiv3_[\w-]{86}$/);
    assert.ok(await button(/Load sample/).isDisabled(), 'the token is stored first');
    await click(button('Copy'));
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), token);
    await click(button(/Load sample/));
    await page.getByRole('img', { name: /2 series.*2012-01-01/ }).waitFor();
    await page.getByText('location=Seattle').waitFor();
    assert.equal(clickCount, 3);
  });

  it('stays signed in after a reload, and shares the token with a second tab', async () => {
    await page.reload();
    await page.getByRole('img', { name: /2 series/ }).waitFor();
    const second = await context.newPage();
    await second.goto(`${server.url}/console/`);
    await second.getByRole('heading', { name: 'Home' }).waitFor();
    await second.getByText('No problems', { exact: true }).waitFor();
    await second.getByRole('button', { name: 'Menu' }).click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    await second.getByLabel('Token').waitFor();
    await page.getByLabel('Token').waitFor();
    await page.getByText(/shared with other tabs of this browser/).waitFor();
    await second.close();
  });

  it('rejects a wrong token and accepts the right one', async () => {
    await page.getByLabel('Token').fill('apiv3_wrong');
    await button('Sign in').click();
    await page.getByText('Invalid token. Enter an admin token of this server.').waitFor();
    assert.equal(await page.getByLabel('Token').getAttribute('aria-invalid'), 'true');
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /2 series/ }).waitFor();
  });

  it('lists the first steps on Home until they are dismissed', async () => {
    await page.goto(`${server.url}/console/`);
    const steps = page.getByRole('region', { name: 'Get started' });
    await steps.waitFor();
    assert.deepEqual(await steps.getByRole('listitem').allInnerTexts(), [
      ...['✓\nWrite data\ndone', '✓\nRun a query\ndone'],
      ...['○\nCreate a token for an application', '○\nCreate a trigger'],
    ]);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/first-steps.png` });
    await steps.getByRole('link', { name: 'Create a trigger' }).click();
    await page.getByRole('dialog', { name: 'Create trigger' }).waitFor();
    await page.goto(`${server.url}/console/`);
    await steps.getByRole('button', { name: 'Dismiss' }).click();
    await steps.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByLabel('Time range').selectOption('24h');
    await page.waitForURL(/range=24h/);
    assert.equal(await steps.count(), 0);
  });

  it('requests a new token when the old one was revoked, and keeps the page', async () => {
    await page.goto(`${server.url}/console/data`);
    await page.getByRole('link', { name: 'sample' }).waitFor();
    await page.evaluate(`sessionStorage.setItem('plinth-token', 'apiv3_ended')`);
    await page.reload();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'sample' }).waitFor();
  });

  it('stores the token only in the tab', async () => {
    const kept = await page.evaluate<string>(
      `indexedDB.databases().then((found) =>
        JSON.stringify([location.href, { ...localStorage }, found, document.cookie]))`,
    );
    assert.equal(kept.includes(token), false);
    assert.equal((await page.content()).includes(token), false);
    assert.equal(server.logText.includes(token), false);
  });

  it('causes no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});
