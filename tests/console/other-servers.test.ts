// Source: docs/CONSOLE.md: services that are not enabled have no menu entry; input survives a lost connection.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

describe('the console of a server', { skip: SKIP }, () => {
  it('without the time-series service hides its pages, and says so at their addresses', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'gamedata'],
    });
    const browser = await TestBrowser.start();
    try {
      const page = await (await browser.context()).newPage();
      await page.goto(`${server.url}/console/`);
      await page.getByRole('heading', { name: 'Game data' }).waitFor();
      await page.getByText(/Authentication is off/).waitFor();
      const menu = page.getByRole('navigation', { name: 'Sections' });
      assert.deepEqual(await menu.getByRole('link').allTextContents(), ['Home', 'Game data']);
      await page.goto(`${server.url}/console/explore?db=x&q=SELECT+1`);
      await page.getByRole('heading', { name: 'Explore is not enabled' }).waitFor();
      await page.getByText('plinth serve --services tsdb,gamedata').waitFor();
      assert.deepEqual(await violationsOn(page), []);
      assert.deepEqual(browser.complaints, []);
    } finally {
      await browser.close();
    }
  });

  it('keeps every key typed while the editor loads', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb'],
    });
    await server.http.send('/api/v3/write_lp?db=d', { body: 'm v=1' });
    const browser = await TestBrowser.start();
    try {
      const page = await (await browser.context()).newPage();
      await page.route(/assets\/.*mount-query.*\.js$/, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        await route.continue();
      });
      await page.goto(`${server.url}/console/explore?db=d`);
      await page.locator('textarea').click();
      await page.keyboard.type('SELECT 40 + ');
      await page.locator('textarea').waitFor({ state: 'detached' });
      await page.keyboard.type('2 AS answer');
      await page.keyboard.press('Escape');
      const text = await page.getByRole('textbox', { name: 'Query' }).textContent();
      assert.equal(text, 'SELECT 40 + 2 AS answer');
    } finally {
      await browser.close();
    }
  });

  it('that is unreachable for a while keeps the typed text', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb'],
    });
    await server.http.send('/api/v3/write_lp?db=d', { body: 'm v=1' });
    const browser = await TestBrowser.start();
    try {
      const context = await browser.context();
      const page = await context.newPage();
      await page.goto(`${server.url}/console/explore?db=d`);
      const editor = page.getByRole('textbox', { name: 'Query' });
      await editor.click();
      await page.keyboard.type('SELECT 40 + 2 AS answer');
      await page.keyboard.press('Escape');
      await page.waitForURL(
        ({ searchParams }) => searchParams.get('q')?.endsWith('answer') === true,
      );
      // Page code loads after the first page, so this page is opened once before the connection is lost.
      await page.getByRole('link', { name: 'Databases' }).click();
      await page.getByRole('heading', { name: 'Databases' }).waitFor();
      await page.goBack();
      await editor.waitFor();
      await context.setOffline(true);
      await page.getByRole('link', { name: 'Databases' }).click();
      await page.getByText(/The server has been unreachable since/).waitFor();
      await page.goBack();
      await editor.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' -- kept');
      await context.setOffline(false);
      const response = page.getByText('42', { exact: true });
      // The browser may still consider itself offline for a moment.
      for (let tries = 0; tries < 10 && !(await response.isVisible()); tries += 1) {
        await page.keyboard.press('Control+Enter');
        await response.waitFor({ timeout: 4000 }).catch(() => undefined);
      }
      await response.waitFor({ timeout: 1000 });
      assert.match((await editor.textContent()) ?? '', /SELECT 40 \+ 2 AS answer -- kept/);
      await page.getByText(/The server has been unreachable since/).waitFor({ state: 'detached' });
    } finally {
      await browser.close();
    }
  });
});
